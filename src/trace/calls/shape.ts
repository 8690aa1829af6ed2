import type { z } from 'zod'
import { JsonText, stringify, withMember } from '../../lossless-json.ts'
import { microsOf } from '../../time.ts'
import type { CallRow } from './queries.ts'
import type { Call } from './wire.ts'

/** One feedback on a call, field by field. */
export type ShownFeedback = Record<string, JsonText | null>

const NO_PAYLOAD = new JsonText('{}')

/** A call as the wire shows it. `sizes` holds the payload bytes of whole traces, shown at their roots. */
export function callOf(
  row: CallRow,
  options: {
    usernames: boolean
    sizes: Map<string, number> | undefined
    feedback: readonly ShownFeedback[] | undefined
    costs: object | undefined
  },
): z.input<typeof Call> {
  const { error_count, ...shown } = row
  const displayName = row.display_name || null
  return {
    ...shown,
    display_name: displayName,
    attributes: textOr(row.attributes, NO_PAYLOAD),
    inputs: textOr(row.inputs, NO_PAYLOAD),
    output: row.output == null ? null : new JsonText(row.output),
    summary: new JsonText(
      withMember(row.summary ?? '{}', 'weave', stringify(derived(row, { displayName, ...options }))),
    ),
    expire_at: null,
    storage_size_bytes: row.storage_size_bytes ?? null,
    total_storage_size_bytes: row.parent_id === null ? (options.sizes?.get(row.trace_id) ?? null) : null,
    ...(options.usernames && row.wb_user_id !== null && { wb_username: row.wb_user_id }),
  }
}

function textOr(text: string | null | undefined, fallback: JsonText): JsonText {
  return text == null ? fallback : new JsonText(text)
}

/** `summary.weave`. Wire: with a display name, `trace_name` is absent. */
function derived(
  row: CallRow,
  shown: {
    displayName: string | null
    feedback: readonly ShownFeedback[] | undefined
    costs: object | undefined
  },
): Record<string, unknown> {
  const { displayName, feedback, costs } = shown
  return {
    status: statusOf(row),
    ...(row.ended_at !== null && { latency_ms: latencyMs(row.started_at, row.ended_at) }),
    ...(displayName === null ? { trace_name: opShortName(row.op_name) } : { display_name: displayName }),
    ...(feedback && { feedback }),
    ...(costs && { costs }),
  }
}

function statusOf(row: CallRow): string {
  if (row.exception) return 'error'
  if (row.ended_at === null) return 'running'
  return row.error_count > 0 ? 'descendant_error' : 'success'
}

function latencyMs(startedAt: string, endedAt: string): number {
  return Math.floor((microsOf(endedAt) - microsOf(startedAt)) / 1000)
}

function opShortName(opName: string): string {
  return /^weave:\/\/\/.*\/op\/([^:/]+)/.exec(opName)?.[1] ?? opName
}
