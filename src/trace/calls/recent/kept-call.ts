import type { ShownCall, Value } from '../render/call-text.ts'
import { ABSENT, type ShownColumns } from '../render/members.ts'
import { type CallRow, PAYLOADS, type PayloadColumn } from '../sql/table.ts'

/** Columns of which a merged call has the greatest value. */
const GREATEST = [
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'started_at',
  'ended_at',
  'deleted_at',
  'wb_user_id',
  'wb_run_id',
] as const

/** Columns of which a merged call has the last value. */
const LAST_TEXTS = ['display_name', 'exception'] as const
const LAST_COUNTS = ['wb_run_step', 'wb_run_step_end'] as const

/** A call with more bytes of payloads is kept without them. */
const PAYLOAD_BYTES_MAX = 256 * 1024

/** Memory of a call besides its texts and payloads, approximately. */
const CALL_BYTES = 1024

type Texts = Record<(typeof GREATEST)[number] | (typeof LAST_TEXTS)[number], string | undefined>
type Counts = Record<(typeof LAST_COUNTS)[number], number | undefined>

/** Payloads of a call: JSON texts in UTF-8, one after the other in the order of `PAYLOADS`. */
interface PackedPayloads {
  bytes: Buffer
  /** Where each payload ends; one that the call does not have is empty. */
  ends: readonly number[]
}

/** A call in memory, merged from all its rows by the rules of the table (`sql/table.ts`). Texts are well-formed. */
export interface KeptCall {
  readonly id: string
  readonly project_id: string
  has_start: boolean
  error_count: number
  texts: Texts
  counts: Counts
  /** Undefined where they are too large, and only the database has them. */
  payloads: PackedPayloads | undefined
  /** Memory that it takes, approximately. */
  bytes: number
  /** Whether it is no longer in memory: orders may still refer to it. */
  isEvicted: boolean
}

/** A call of one row. */
export function createKeptCall(row: CallRow): KeptCall {
  const call: KeptCall = {
    id: row.id,
    project_id: row.project_id,
    has_start: row.has_start === 1,
    error_count: row.error_count ?? 0,
    texts: textsOf(row),
    counts: { wb_run_step: row.wb_run_step, wb_run_step_end: row.wb_run_step_end },
    payloads: NO_PAYLOADS,
    bytes: CALL_BYTES,
    isEvicted: false,
  }
  mergePayloads(call, row)
  if (call.texts.deleted_at !== undefined) forgetContent(call)
  call.bytes = memoryOf(call)
  return call
}

/** Merges another row into its call. */
export function mergeRow(call: KeptCall, row: CallRow): void {
  call.has_start ||= row.has_start === 1
  call.error_count = Math.max(call.error_count, row.error_count ?? 0)
  const texts = textsOf(row)
  for (const column of GREATEST) {
    const value = texts[column]
    if (value !== undefined && isGreater(value, call.texts[column])) call.texts[column] = value
  }
  for (const column of LAST_TEXTS) call.texts[column] = texts[column] ?? call.texts[column]
  for (const column of LAST_COUNTS) call.counts[column] = row[column] ?? call.counts[column]
  mergePayloads(call, row)
  if (call.texts.deleted_at !== undefined) forgetContent(call)
  call.bytes = memoryOf(call)
}

/** Written out, so that the objects of all calls have the same shape, which JavaScript engines read fast. */
function textsOf(row: Partial<CallRow>): Texts {
  return {
    trace_id: row.trace_id?.toWellFormed(),
    parent_id: row.parent_id?.toWellFormed(),
    thread_id: row.thread_id?.toWellFormed(),
    turn_id: row.turn_id?.toWellFormed(),
    op_name: row.op_name?.toWellFormed(),
    started_at: row.started_at,
    ended_at: row.ended_at,
    deleted_at: row.deleted_at,
    wb_user_id: row.wb_user_id?.toWellFormed(),
    wb_run_id: row.wb_run_id?.toWellFormed(),
    display_name: row.display_name?.toWellFormed(),
    exception: row.exception?.toWellFormed(),
  }
}

/** Of a deleted call, only what its place in the orders and its absence follow from is kept. */
function forgetContent(call: KeptCall): void {
  const { trace_id, started_at, deleted_at } = call.texts
  call.texts = textsOf({ trace_id, started_at, deleted_at })
  call.counts = { wb_run_step: undefined, wb_run_step_end: undefined }
  call.payloads = NO_PAYLOADS
}

/** Texts count as well: some, such as exceptions, have no limit of their own. */
function memoryOf({ texts, payloads }: KeptCall): number {
  const chars = Object.values(texts).reduce((sum, text) => sum + (text?.length ?? 0), 0)
  return CALL_BYTES + chars + (payloads?.bytes.byteLength ?? 0)
}

/** As ClickHouse compares texts: by their bytes in UTF-8. */
function isGreater(value: string, other: string | undefined): boolean {
  return (
    other === undefined || (value !== other && Buffer.compare(Buffer.from(value), Buffer.from(other)) > 0)
  )
}

const NO_PAYLOADS: PackedPayloads = { bytes: Buffer.alloc(0), ends: PAYLOADS.map(() => 0) }

function mergePayloads(call: KeptCall, row: CallRow): void {
  const { payloads } = call
  if (payloads === undefined) return
  const parts = PAYLOADS.map((column, index) => row[column] ?? payloadAt(payloads, index))
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  call.payloads = size > PAYLOAD_BYTES_MAX ? undefined : packed(parts, size)
}

/** Copies: a part of a larger text would keep all of it in memory. */
function packed(parts: readonly (string | Buffer)[], size: number): PackedPayloads {
  const bytes = Buffer.allocUnsafe(size)
  let end = 0
  const ends = parts.map((part) => {
    end += typeof part === 'string' ? bytes.write(part, end) : part.copy(bytes, end)
    return end
  })
  return { bytes, ends }
}

/** Empty where the call does not have it. */
function payloadAt({ bytes, ends }: PackedPayloads, index: number): Buffer {
  return bytes.subarray(ends[index - 1] ?? 0, ends[index])
}

/** Whether lists show it: started, and not deleted. */
export function isVisible(call: KeptCall): boolean {
  return call.has_start && call.texts.deleted_at === undefined
}

/** A call for `addCall`, with the payloads that are shown; undefined where only the database has these. */
export function shownCall(
  call: KeptCall,
  { payloads: shown }: Pick<ShownColumns, 'payloads'>,
): ShownCall | undefined {
  const { payloads } = call
  if (payloads === undefined) return undefined
  const bytesOf = (column: PayloadColumn): Buffer => {
    const bytes = shown.includes(column)
      ? payloadAt(payloads, PAYLOADS.indexOf(column))
      : ABSENT_BYTES[column]
    return bytes.byteLength === 0 ? ABSENT_BYTES[column] : bytes
  }
  return {
    values: valuesOf(call),
    errorCount: call.error_count,
    payloads: {
      attributes: bytesOf('attributes'),
      inputs: bytesOf('inputs'),
      output: bytesOf('output'),
      summary: bytesOf('summary'),
    },
  }
}

const ABSENT_BYTES: Record<PayloadColumn, Buffer> = {
  attributes: Buffer.from(ABSENT.attributes),
  inputs: Buffer.from(ABSENT.inputs),
  output: Buffer.from(ABSENT.output),
  summary: Buffer.from(ABSENT.summary),
}

/** The values of `callMembers` that are stored; sizes are not known. */
function valuesOf({ id, project_id, texts, counts }: KeptCall): Map<string, Value> {
  return new Map<string, Value>([
    ['id', id],
    ['project_id', project_id],
    ['trace_id', texts.trace_id ?? ''],
    ['op_name', texts.op_name ?? ''],
    ['started_at', texts.started_at ?? ''],
    ['display_name', texts.display_name || null],
    ['parent_id', texts.parent_id || null],
    ['thread_id', texts.thread_id || null],
    ['turn_id', texts.turn_id || null],
    ['ended_at', texts.ended_at ?? null],
    ['exception', texts.exception ?? null],
    ['wb_user_id', texts.wb_user_id || null],
    ['wb_username', texts.wb_user_id || null],
    ['wb_run_id', texts.wb_run_id || null],
    ['wb_run_step', counts.wb_run_step ?? null],
    ['wb_run_step_end', counts.wb_run_step_end ?? null],
  ])
}
