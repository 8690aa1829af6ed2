import { invalidRequest } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { type JsonText, memberText, withMember } from '../../lossless-json.ts'
import { isoMicros } from '../../time.ts'
import { refsIn } from '../refs/refs-in.ts'
import type { CallEnd, CallStart } from './wire.ts'

/** One row for the `calls` table: what is known of a call from one message. Absent columns are not touched. */
export interface CallPart {
  project_id: string
  id: string
  [column: string]: unknown
}

/** Wire: longer op names and display names are refused by the service the clients know. */
export const OP_NAME_CHARS_MAX = 128
export const DISPLAY_NAME_CHARS_MAX = 1024

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SPAN_ID = /^[0-9a-f]{16}$/
const OTEL_TRACE_ID = /^[0-9a-f]{32}$/

/** @throws 400 for ids, times, names or refs that are malformed. */
export function startPart(start: CallStart, user: string): CallPart & { trace_id: string } {
  checkNames(start)
  return {
    project_id: start.project_id,
    id: callId(start.id ?? newId()),
    trace_id: traceId(start.trace_id ?? newId()),
    parent_id: start.parent_id ?? undefined,
    thread_id: start.thread_id ?? undefined,
    turn_id: start.turn_id ?? undefined,
    op_name: start.op_name,
    display_name: start.display_name ?? undefined,
    started_at: dateTime('started_at', start.started_at),
    attributes: start.attributes.text,
    inputs: start.inputs.text,
    input_refs: refsIn(start.inputs),
    wb_user_id: user,
    wb_run_id: start.wb_run_id ?? undefined,
    wb_run_step: start.wb_run_step ?? undefined,
  }
}

/** @throws 400 for ids, times or refs that are malformed. */
export function endPart(end: CallEnd): CallPart {
  return {
    project_id: end.project_id,
    id: callId(end.id),
    trace_id: end.trace_id == null ? undefined : traceId(end.trace_id),
    started_at: end.started_at == null ? undefined : dateTime('started_at', end.started_at),
    ended_at: dateTime('ended_at', end.ended_at),
    exception: end.exception ?? undefined,
    error_count: errorCount(end.summary),
    output: end.output?.text,
    output_refs: end.output == null ? [] : refsIn(end.output),
    // The server's own `weave` member is computed on every read; a client's copy of an old one must not win.
    summary: withMember(end.summary.text, 'weave', undefined),
    wb_run_step_end: end.wb_run_step_end ?? undefined,
  }
}

/** Joins the parts of one call that came together into one row, so that the database has less to merge. */
export function joinParts(parts: readonly CallPart[]): CallPart[] {
  const joined = new Map<string, CallPart>()
  for (const part of parts) {
    const key = `${part.project_id} ${part.id}`
    const known = joined.get(key)
    joined.set(key, known === undefined ? part : joinTwo(known, part))
  }
  return [...joined.values()]
}

function joinTwo(first: CallPart, second: CallPart): CallPart {
  const present = Object.entries(second).filter(([, value]) => value !== undefined)
  return { ...first, ...Object.fromEntries(present) }
}

/** Wire: ids are canonical UUIDs or OpenTelemetry span ids. */
export function callId(id: string): string {
  if (!UUID.test(id) && !SPAN_ID.test(id)) throw invalidRequest(`Invalid call id: ${id.slice(0, 64)}`)
  return id
}

function traceId(id: string): string {
  if (!UUID.test(id) && !OTEL_TRACE_ID.test(id)) throw invalidRequest(`Invalid trace id: ${id.slice(0, 64)}`)
  return id
}

function dateTime(field: string, text: string): string {
  const iso = isoMicros(text)
  if (iso === undefined)
    throw invalidRequest(`Invalid ${field}: ${text.slice(0, 64)} is not an ISO 8601 date-time`)
  return iso
}

function checkNames(start: CallStart): void {
  if (!start.op_name.startsWith('weave:///') && start.op_name.length > OP_NAME_CHARS_MAX) {
    throw invalidRequest(`op_name is longer than ${OP_NAME_CHARS_MAX} characters`)
  }
  checkDisplayName(start.display_name)
}

export function checkDisplayName(displayName: string | null | undefined): void {
  if (displayName != null && displayName.length > DISPLAY_NAME_CHARS_MAX) {
    throw invalidRequest(`display_name is longer than ${DISPLAY_NAME_CHARS_MAX} characters`)
  }
}

/** Calls below this one that failed, as the client counted them. */
function errorCount(summary: JsonText): number {
  const errors = Number(memberText(memberText(summary.text, 'status_counts') ?? '{}', 'error') ?? 0)
  return Number.isSafeInteger(errors) && errors > 0 ? errors : 0
}
