import type { ShownCall, Value } from '../render/call-text.ts'
import { ABSENT, type ShownColumns } from '../render/members.ts'
import { type CallRow, PAYLOADS, type PayloadColumn } from '../sql/table.ts'
import { type PayloadSlabs, type Place, payloadsAt } from './payload-slabs.ts'

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
const CALL_BYTES = 640

type Texts = Record<(typeof GREATEST)[number] | (typeof LAST_TEXTS)[number], string | undefined>
type Counts = Record<(typeof LAST_COUNTS)[number], number | undefined>

/** A call in memory, merged from all its rows by the rules of the table (`sql/table.ts`). Texts are well-formed. */
export interface KeptCall {
  readonly id: string
  has_start: boolean
  error_count: number
  texts: Texts
  counts: Counts
  /** Undefined where they are too large, and only the database has them, and of a deleted call. */
  payloads: Place | undefined
  /** Memory that it takes besides its payloads, approximately. */
  bytes: number
  /** Whether it is no longer in memory: orders may still refer to it. */
  isEvicted: boolean
}

/** Where the texts and payloads of a project's calls are. */
export interface Memory {
  slabs: PayloadSlabs
  /** Returns one text for equal ones. */
  share: (text: string) => string
}

/** A call of one row. */
export function createKeptCall(row: CallRow, { slabs, share }: Memory): KeptCall {
  const call: KeptCall = {
    id: row.id,
    has_start: row.has_start === 1,
    error_count: row.error_count ?? 0,
    texts: textsOf(row, share),
    counts: { wb_run_step: row.wb_run_step, wb_run_step_end: row.wb_run_step_end },
    payloads: undefined,
    bytes: CALL_BYTES,
    isEvicted: false,
  }
  writePayloads(
    call,
    PAYLOADS.map((column) => row[column] ?? ''),
    slabs,
  )
  if (call.texts.deleted_at !== undefined) forgetDeleted(call, slabs)
  call.bytes = memoryOf(call)
  return call
}

/** Merges another row into its call. */
export function mergeRow(call: KeptCall, row: CallRow, { slabs, share }: Memory): void {
  call.has_start ||= row.has_start === 1
  call.error_count = Math.max(call.error_count, row.error_count ?? 0)
  const texts = textsOf(row, share)
  for (const column of GREATEST) {
    const value = texts[column]
    if (value !== undefined && isGreater(value, call.texts[column])) call.texts[column] = value
  }
  for (const column of LAST_TEXTS) call.texts[column] = texts[column] ?? call.texts[column]
  for (const column of LAST_COUNTS) call.counts[column] = row[column] ?? call.counts[column]
  mergePayloads(call, row, slabs)
  if (call.texts.deleted_at !== undefined) forgetDeleted(call, slabs)
  call.bytes = memoryOf(call)
}

/** Written out, so that the objects of all calls have the same shape, which JavaScript engines read fast. */
function textsOf(row: Partial<CallRow>, share: (text: string) => string): Texts {
  const shared = (text: string | undefined): string | undefined => text && share(text.toWellFormed())
  return {
    trace_id: row.trace_id?.toWellFormed(),
    parent_id: row.parent_id?.toWellFormed(),
    thread_id: shared(row.thread_id),
    turn_id: shared(row.turn_id),
    op_name: shared(row.op_name),
    started_at: row.started_at,
    ended_at: row.ended_at,
    deleted_at: row.deleted_at,
    wb_user_id: shared(row.wb_user_id),
    wb_run_id: shared(row.wb_run_id),
    display_name: row.display_name?.toWellFormed(),
    exception: row.exception?.toWellFormed(),
  }
}

/** Of a deleted call, only what its place in the orders and its absence follow from is kept. */
function forgetDeleted(call: KeptCall, slabs: PayloadSlabs): void {
  const { trace_id, started_at, deleted_at } = call.texts
  keepOnly({ trace_id, started_at, deleted_at }, call, slabs)
}

/** Of an evicted call, only its place in the order is kept, which may refer to it for some time. */
export function forgetEvicted(call: KeptCall, slabs: PayloadSlabs): void {
  call.isEvicted = true
  keepOnly({ started_at: call.texts.started_at }, call, slabs)
}

function keepOnly(texts: Partial<CallRow>, call: KeptCall, slabs: PayloadSlabs): void {
  call.texts = textsOf(texts, (text) => text)
  call.counts = { wb_run_step: undefined, wb_run_step_end: undefined }
  freePayloads(call, slabs)
}

/** Some texts, such as exceptions, have no limit of their own. */
function memoryOf({ texts }: KeptCall): number {
  return CALL_BYTES + Object.values(texts).reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

/** As ClickHouse compares texts: by their bytes in UTF-8. */
function isGreater(value: string, other: string | undefined): boolean {
  return (
    other === undefined || (value !== other && Buffer.compare(Buffer.from(value), Buffer.from(other)) > 0)
  )
}

function mergePayloads(call: KeptCall, row: CallRow, slabs: PayloadSlabs): void {
  if (call.payloads === undefined || PAYLOADS.every((column) => row[column] === undefined)) return
  const before = payloadsAt(call.payloads)
  writePayloads(
    call,
    PAYLOADS.map((column, index) => row[column] ?? before[index] ?? ''),
    slabs,
  )
}

function writePayloads(call: KeptCall, payloads: readonly (string | Buffer)[], slabs: PayloadSlabs): void {
  const bytes = payloads.reduce((sum, payload) => sum + Buffer.byteLength(payload), 0)
  const isEnded = call.texts.ended_at !== undefined
  const place = bytes > PAYLOAD_BYTES_MAX ? undefined : slabs.write(payloads, { isEnded })
  freePayloads(call, slabs)
  call.payloads = place
}

function freePayloads(call: KeptCall, slabs: PayloadSlabs): void {
  if (call.payloads !== undefined) slabs.free(call.payloads)
  call.payloads = undefined
}

/** Whether lists show it: started, and not deleted. */
export function isVisible(call: KeptCall): boolean {
  return call.has_start && call.texts.deleted_at === undefined
}

/** A call of a project for `addCall`, with the payloads that are shown; undefined where only the database has these. */
export function shownCall(
  call: KeptCall,
  project: string,
  { payloads: shown }: Pick<ShownColumns, 'payloads'>,
): ShownCall | undefined {
  if (call.payloads === undefined) return undefined
  const payloads = payloadsAt(call.payloads)
  const bytesOf = (column: PayloadColumn): Buffer => {
    const bytes = shown.includes(column) ? payloads[PAYLOADS.indexOf(column)] : undefined
    return bytes === undefined || bytes.byteLength === 0 ? ABSENT_BYTES[column] : bytes
  }
  return {
    values: valuesOf(call, project),
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
function valuesOf({ id, texts, counts }: KeptCall, project: string): Map<string, Value> {
  return new Map<string, Value>([
    ['id', id],
    ['project_id', project],
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
