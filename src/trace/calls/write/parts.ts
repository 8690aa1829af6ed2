import { invalidRequest } from '../../../errors.ts'
import { newId } from '../../../ids.ts'
import { type JsonText, memberText, withMember } from '../../../json/lossless-json.ts'
import { dateTimeAt } from '../../date-time.ts'
import { isRef } from '../../ref-uri.ts'
import { refsIn } from '../../refs/refs-in.ts'
import { isLonger } from '../../text-length.ts'
import type { CallEnd, CallStart } from '../messages/call-wire.ts'
import type { CallRow } from '../sql/table.ts'
import { truncate } from './truncate.ts'

/** The row of one part of a call; each message of a client is one part. */
export type CallPart = CallRow

/** Wire: longer op names and display names are refused by the service the clients know. */
export const OP_NAME_CHARS_MAX = 128
export const DISPLAY_NAME_CHARS_MAX = 1024

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Wire: any letters and digits, hexadecimal or not. */
const SPAN_ID = /^[0-9a-z]{16}$/
const OTEL_TRACE_ID = /^[0-9a-z]{32}$/

/** Where a message stands in its body. */
export type BodyPath = readonly (string | number)[]

/** @throws 400 for ids, names or refs that are malformed, 422 for invalid times. */
export function startPart(start: CallStart, user: string, at: BodyPath): CallPart & { trace_id: string } {
  checkNames(start)
  return {
    project_id: start.project_id,
    id: callId(start.id ?? newId()),
    has_start: 1,
    trace_id: traceId(start.trace_id ?? newId()),
    parent_id: start.parent_id ? callId(start.parent_id) : undefined,
    thread_id: start.thread_id ?? undefined,
    turn_id: start.turn_id ?? undefined,
    op_name: start.op_name,
    display_name: start.display_name ?? undefined,
    started_at: dateTimeAt([...at, 'started_at'], start.started_at),
    attributes: start.otel_dump
      ? withMember(start.attributes.text, 'otel_span', start.otel_dump.text)
      : start.attributes.text,
    inputs: start.inputs.text,
    inputs_excerpt: truncatedUnlessEqual(start.inputs),
    input_refs: refsIn(start.inputs),
    wb_user_id: user,
    wb_run_id: start.wb_run_id ?? undefined,
    wb_run_step: start.wb_run_step ?? undefined,
  }
}

/**
 * Wire: newer clients repeat the start time and the trace in an end; those of the start count.
 * @throws 400 for ids or refs that are malformed, 422 for invalid times.
 */
export function endPart(end: CallEnd, at: BodyPath): CallPart {
  return {
    project_id: end.project_id,
    id: callId(end.id),
    ended_at: dateTimeAt([...at, 'ended_at'], end.ended_at),
    exception: end.exception ?? undefined,
    error_count: errorCount(end.summary),
    output: end.output?.text,
    output_excerpt: end.output == null ? undefined : truncatedUnlessEqual(end.output),
    output_refs: end.output == null ? [] : refsIn(end.output),
    summary: end.summary.text,
    wb_run_step_end: end.wb_run_step_end ?? undefined,
  }
}

/** The truncated copy; undefined where it equals the payload, which is the column's default. */
export function truncatedUnlessEqual({ text }: JsonText): string | undefined {
  const truncated = truncate(text)
  return truncated === text ? undefined : truncated
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

/**
 * The same rules as the database's merge: later values win, a truncated copy is that of its payload, and refs are
 * united. Written out, since a loop over the columns takes eight times as long.
 */
function joinTwo(first: CallPart, second: CallPart): CallPart {
  return {
    project_id: first.project_id,
    id: first.id,
    has_start: second.has_start ?? first.has_start,
    trace_id: second.trace_id ?? first.trace_id,
    parent_id: second.parent_id ?? first.parent_id,
    thread_id: second.thread_id ?? first.thread_id,
    turn_id: second.turn_id ?? first.turn_id,
    op_name: second.op_name ?? first.op_name,
    display_name: second.display_name ?? first.display_name,
    started_at: second.started_at ?? first.started_at,
    ended_at: second.ended_at ?? first.ended_at,
    deleted_at: second.deleted_at ?? first.deleted_at,
    exception: second.exception ?? first.exception,
    error_count: second.error_count ?? first.error_count,
    wb_user_id: second.wb_user_id ?? first.wb_user_id,
    wb_run_id: second.wb_run_id ?? first.wb_run_id,
    wb_run_step: second.wb_run_step ?? first.wb_run_step,
    wb_run_step_end: second.wb_run_step_end ?? first.wb_run_step_end,
    attributes: second.attributes ?? first.attributes,
    inputs: second.inputs ?? first.inputs,
    inputs_excerpt: (second.inputs === undefined ? first : second).inputs_excerpt,
    output: second.output ?? first.output,
    output_excerpt: (second.output === undefined ? first : second).output_excerpt,
    summary: second.summary ?? first.summary,
    input_refs: [...(first.input_refs ?? []), ...(second.input_refs ?? [])],
    output_refs: [...(first.output_refs ?? []), ...(second.output_refs ?? [])],
  } satisfies Required<CallPart>
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

function checkNames(start: CallStart): void {
  if (!start.op_name.startsWith('weave:///') && isLonger(start.op_name, OP_NAME_CHARS_MAX)) {
    throw invalidRequest(`op_name is longer than ${OP_NAME_CHARS_MAX} characters`)
  }
  if (isRef(start.op_name) && !start.op_name.includes('/op/'))
    throw invalidRequest('op_name is a ref, but not one of an op')
  checkDisplayName(start.display_name)
}

export function checkDisplayName(displayName: string | null | undefined): void {
  if (displayName != null && isLonger(displayName, DISPLAY_NAME_CHARS_MAX)) {
    throw invalidRequest(`display_name is longer than ${DISPLAY_NAME_CHARS_MAX} characters`)
  }
}

/** Calls below this one that failed, as the client counted them. */
function errorCount(summary: JsonText): number {
  const errors = Number(memberText(memberText(summary.text, 'status_counts') ?? '{}', 'error') ?? 0)
  return Number.isSafeInteger(errors) && errors > 0 ? errors : 0
}
