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

/** Memory of a call besides its payloads, approximately. */
const CALL_BYTES = 1536

type Texts = Partial<Record<(typeof GREATEST)[number] | (typeof LAST_TEXTS)[number], string>>
type Counts = Partial<Record<(typeof LAST_COUNTS)[number], number>>

/** A call in memory, merged from all its rows by the rules of the table (`sql/table.ts`). Texts are well-formed. */
export interface KeptCall {
  readonly id: string
  readonly project_id: string
  has_start: boolean
  error_count: number
  texts: Texts
  counts: Counts
  /** JSON texts in UTF-8; undefined where they are too large, and only the database has them. */
  payloads: Partial<Record<PayloadColumn, Buffer>> | undefined
  /** Memory that it takes, approximately. */
  bytes: number
}

export function createKeptCall({ id, project_id }: Pick<CallRow, 'id' | 'project_id'>): KeptCall {
  return {
    id,
    project_id,
    has_start: false,
    error_count: 0,
    texts: {},
    counts: {},
    payloads: {},
    bytes: CALL_BYTES,
  }
}

/** Merges a row into its call. */
export function mergeRow(call: KeptCall, row: CallRow): void {
  call.has_start ||= row.has_start === 1
  call.error_count = Math.max(call.error_count, row.error_count ?? 0)
  for (const column of GREATEST) {
    const value = row[column]?.toWellFormed()
    if (value !== undefined && isGreater(value, call.texts[column])) call.texts[column] = value
  }
  for (const column of LAST_TEXTS) {
    const value = row[column]?.toWellFormed()
    if (value !== undefined) call.texts[column] = value
  }
  for (const column of LAST_COUNTS) {
    const value = row[column]
    if (value !== undefined) call.counts[column] = value
  }
  mergePayloads(call, row)
  if (call.texts.deleted_at !== undefined) forgetContent(call)
}

/** Of a deleted call, only what its place in the order and its absence follow from is kept. */
function forgetContent(call: KeptCall): void {
  const { started_at, deleted_at } = call.texts
  call.texts = {
    ...(started_at !== undefined && { started_at }),
    ...(deleted_at !== undefined && { deleted_at }),
  }
  call.counts = {}
  call.payloads = {}
  call.bytes = CALL_BYTES
}

/** As ClickHouse compares texts: by their bytes in UTF-8. */
function isGreater(value: string, other: string | undefined): boolean {
  return (
    other === undefined || (value !== other && Buffer.compare(Buffer.from(value), Buffer.from(other)) > 0)
  )
}

function mergePayloads(call: KeptCall, row: CallRow): void {
  if (call.payloads === undefined) return
  for (const column of PAYLOADS) {
    const text = row[column]
    // A copy: a part of a larger text would keep all of it in memory.
    if (text !== undefined) call.payloads[column] = Buffer.from(text)
  }
  const bytes = PAYLOADS.reduce((sum, column) => sum + (call.payloads?.[column]?.byteLength ?? 0), 0)
  if (bytes > PAYLOAD_BYTES_MAX) call.payloads = undefined
  call.bytes = CALL_BYTES + (call.payloads === undefined ? 0 : bytes)
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
  const bytesOf = (column: PayloadColumn): Buffer =>
    (shown.includes(column) ? payloads[column] : undefined) ?? ABSENT_BYTES[column]
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
