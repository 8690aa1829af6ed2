import { isRecord } from '../../is-record.ts'
import { memberText, withMember } from '../../lossless-json.ts'
import { type RowBinary, readRowBinary } from '../../stores/trace-db/row-binary.ts'
import { isoOfMicros } from '../../time.ts'
import { DISPLAY_NAME, ENDED_AT, opShortName, type PayloadColumn, statusOf } from './fields.ts'

/** What a list shows of its calls beyond their columns. */
export interface ShownColumns {
  payloads: readonly PayloadColumn[]
  storageSize: 'with' | 'without'
  /** SQL of a call's value, in bytes; NULL where it has none. */
  totalStorageSize: string | undefined
  usernames: 'with' | 'without'
}

/** The columns that {@link callTexts} reads, in its order. */
export function callColumns({ payloads, storageSize, totalStorageSize }: ShownColumns): string {
  const payload = (column: PayloadColumn, absent: string): string =>
    payloads.includes(column) ? `ifNull(${column}, '${absent}')` : `'${absent}'`
  return [
    'id',
    'project_id',
    'trace_id',
    'op_name',
    'started_at',
    DISPLAY_NAME,
    'parent_id',
    'thread_id',
    'turn_id',
    ENDED_AT,
    'exception',
    'error_count',
    'wb_user_id',
    'wb_run_id',
    'wb_run_step',
    'wb_run_step_end',
    storageSize === 'with' ? 'toNullable(start_bytes + end_bytes)' : "CAST(NULL, 'Nullable(UInt64)')",
    `CAST(${totalStorageSize ?? 'NULL'}, 'Nullable(UInt64)')`,
    payload('attributes', '{}'),
    payload('inputs', '{}'),
    payload('output', 'null'),
    payload('summary', '{}'),
  ].join(', ')
}

/**
 * The calls in rows of {@link callColumns} as the JSON texts that the wire shows, one a line. Payloads are copied as
 * bytes: reading them into strings and writing those again takes several times as long.
 */
export function callTexts(
  rows: Uint8Array,
  { usernames }: Pick<ShownColumns, 'usernames'>,
): { texts: Buffer; calls: number } {
  const text = createText(rows.byteLength)
  let calls = 0
  for (const row = readRowBinary(rows); !row.done(); calls++) addCall(text, row, usernames)
  return { texts: text.written(), calls }
}

function addCall(text: Text, row: RowBinary, usernames: ShownColumns['usernames']): void {
  const { text: read, nullable } = row
  const id = read()
  const project = read()
  const trace = read()
  const opName = read()
  const startedAt = row.micros()
  const displayName = nullable(read)
  const parent = read()
  const thread = read()
  const turn = read()
  const endedAt = nullable(row.micros)
  const exception = nullable(read)
  const errorCount = row.count()
  const user = read()
  const run = read()
  const [step, stepEnd, size, totalSize] = [0, 1, 2, 3].map(() => nullable(row.count))
  text.add(
    `{"id":"${id}","project_id":${quoted(project)},"trace_id":"${trace}","op_name":${quoted(opName)},"started_at":"${isoOfMicros(startedAt)}","display_name":${orNull(displayName)},"parent_id":${orNull(parent)},"thread_id":${orNull(thread)},"turn_id":${orNull(turn)},"ended_at":${endedAt === null ? 'null' : `"${isoOfMicros(endedAt)}"`},"exception":${exception === null ? 'null' : quoted(exception)},"wb_user_id":${orNull(user)},${usernames === 'with' && user !== '' ? `"wb_username":${quoted(user)},` : ''}"wb_run_id":${orNull(run)},"wb_run_step":${step},"wb_run_step_end":${stepEnd},"deleted_at":null,"expire_at":null,"storage_size_bytes":${size},"total_storage_size_bytes":${totalSize},"attributes":`,
  )
  text.add(row.bytes())
  text.add(',"inputs":')
  text.add(row.bytes())
  text.add(',"output":')
  text.add(row.bytes())
  text.add(',"summary":')
  const status = statusOf({ exception, endedAt, errorCount })
  const latency = endedAt === null ? '' : `,"latency_ms":${Math.floor((endedAt - startedAt) / 1000)}`
  const name =
    displayName === null
      ? `"trace_name":${quoted(opShortName(opName))}`
      : `"display_name":${quoted(displayName)}`
  addSummary(text, row.bytes(), `{"status":"${status}"${latency},${name}}`)
  text.add('}\n')
}

/** Adds `summary` with what the server derives as its last member. Wire: what a client keeps under `weave` stays. */
function addSummary(text: Text, summary: Buffer, derived: string): void {
  if (summary.includes('"weave"')) {
    const stored = summary.toString('utf8')
    const kept: unknown = JSON.parse(memberText(stored, 'weave') ?? 'null')
    const weave = isRecord(kept) ? JSON.stringify({ ...kept, ...JSON.parse(derived) }) : derived
    text.add(withMember(stored, 'weave', weave))
    return
  }
  const close = summary.lastIndexOf('}')
  text.add(summary.subarray(0, close))
  text.add(`${isEmpty(summary, close) ? '' : ','}"weave":${derived}}`)
}

/** Whether there is nothing but space between an object's last brace, at `close`, and its first. */
function isEmpty(object: Buffer, close: number): boolean {
  let at = close - 1
  while ((object[at] ?? 0) <= SPACE) at--
  return object[at] === OPENING_BRACE
}

const SPACE = 0x20
const OPENING_BRACE = 0x7b

function quoted(value: string): string {
  return JSON.stringify(value)
}

/** What is absent is stored as an empty text. */
function orNull(value: string | null): string {
  return value === null || value === '' ? 'null' : quoted(value)
}

interface Text {
  add(piece: string | Uint8Array): void
  written(): Buffer
}

/** A growing text of UTF-8; `size` is a guess. */
function createText(size: number): Text {
  let buffer = Buffer.allocUnsafe(Math.ceil(size * 1.5) + 1024)
  let at = 0

  function reserve(bytes: number): void {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe((at + bytes) * 2)
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }

  return {
    add(piece) {
      // A character takes at most three bytes for each of its UTF-16 units.
      reserve(typeof piece === 'string' ? piece.length * 3 : piece.byteLength)
      if (typeof piece === 'string') at += buffer.write(piece, at)
      else {
        buffer.set(piece, at)
        at += piece.byteLength
      }
    },
    written: () => buffer.subarray(0, at),
  }
}
