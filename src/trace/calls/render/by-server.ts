import { isRecord } from '../../../is-record.ts'
import { memberText, withMember } from '../../../lossless-json.ts'
import type { ColumnType } from '../../../stores/trace-db/port.ts'
import { type RowBinary, readRowBinary } from '../../../stores/trace-db/row-binary.ts'
import { isoOfMicros, microsOf } from '../../../time.ts'
import { opShortName, statusOf } from '../sql/derived.ts'
import { PAYLOADS } from '../sql/table.ts'
import { callMembers, type Member, type MemberForm, payloadSql, type ShownColumns } from './members.ts'

/** The columns that {@link renderRows} reads, in its order. */
export function callColumns(shown: ShownColumns): string {
  const members = callMembers(shown).flatMap(({ column }) => column?.sql ?? [])
  return [...members, 'error_count', ...PAYLOADS.map((payload) => payloadSql(payload, shown))].join(', ')
}

/** Their types. */
export function callColumnTypes(shown: ShownColumns): ColumnType[] {
  const members = callMembers(shown).flatMap(({ column }) => (column ? TYPES[column.form] : []))
  return [...members, 'UInt64', ...PAYLOADS.map(() => 'String' as const)]
}

/**
 * The calls in rows of {@link callColumns} as the JSON texts that the wire shows, one a line. Payloads are copied as
 * bytes: reading them into strings and writing those again takes several times as long.
 */
export function renderRows(rows: Uint8Array, shown: ShownColumns): { lines: Buffer; calls: number } {
  const text = createText(rows.byteLength)
  const members = callMembers(shown)
  let calls = 0
  for (const row = readRowBinary(rows); !row.done(); calls++) addCall(text, row, members)
  return { lines: text.written(), calls }
}

type Value = string | number | null

const READ: Record<MemberForm, (row: RowBinary) => Value> = {
  text: (row) => row.text(),
  optional: (row) => row.text() || null,
  omitted: (row) => row.text() || null,
  nullable: (row) => row.nullable(row.text),
  time: (row) => isoOfMicros(row.micros()),
  'nullable time': (row) => row.nullable(() => isoOfMicros(row.micros())),
  count: (row) => row.nullable(row.count),
}

const TYPES: Record<MemberForm, ColumnType> = {
  text: 'String',
  optional: 'String',
  omitted: 'String',
  nullable: 'Nullable(String)',
  time: 'DateTime64(6)',
  'nullable time': 'Nullable(DateTime64(6))',
  count: 'Nullable(UInt64)',
}

function addCall(text: Text, row: RowBinary, members: readonly Member[]): void {
  const values = new Map<string, Value>()
  let head = '{'
  for (const { name, column } of members) {
    const value = column === undefined ? null : READ[column.form](row)
    values.set(name, value)
    if (value !== null || column?.form !== 'omitted') head += `"${name}":${JSON.stringify(value)},`
  }
  const derived = derivedText(values, row.count())
  text.add(`${head}"attributes":`)
  text.add(row.bytes())
  text.add(',"inputs":')
  text.add(row.bytes())
  text.add(',"output":')
  text.add(row.bytes())
  text.add(',"summary":')
  addSummary(text, row.bytes(), derived)
  text.add('}\n')
}

/** The derived values of a call, as `summary.weave` shows them. */
function derivedText(values: ReadonlyMap<string, Value>, errorCount: number): string {
  const textOf = (name: string): string | null => {
    const value = values.get(name)
    return typeof value === 'string' ? value : null
  }
  const endedAt = textOf('ended_at')
  const status = statusOf({ exception: textOf('exception'), endedAt, errorCount })
  const micros = endedAt === null ? 0 : microsOf(endedAt) - microsOf(textOf('started_at') ?? '')
  const latency = endedAt === null ? '' : `,"latency_ms":${Math.floor(micros / 1000)}`
  const displayName = textOf('display_name')
  const name =
    displayName === null
      ? `"trace_name":${JSON.stringify(opShortName(textOf('op_name') ?? ''))}`
      : `"display_name":${JSON.stringify(displayName)}`
  return `{"status":"${status}"${latency},${name}}`
}

/** Adds `summary` with the derived values as its last member. */
function addSummary(text: Text, summary: Buffer, derived: string): void {
  if (summary.includes('"weave"')) {
    text.add(summaryKeeping(summary.toString('utf8'), derived))
    return
  }
  const close = summary.lastIndexOf('}')
  text.add(summary.subarray(0, close))
  text.add(`${isEmpty(summary, close) ? '' : ','}"weave":${derived}}`)
}

/** A summary with the derived values. Wire: a client's own members under `weave` stay. */
export function summaryKeeping(summary: string, derived: string): string {
  const kept: unknown = JSON.parse(memberText(summary, 'weave') ?? 'null')
  const weave = isRecord(kept) ? JSON.stringify({ ...kept, ...JSON.parse(derived) }) : derived
  return withMember(summary, 'weave', weave)
}

/** Whether an object, whose closing brace is at `close`, is empty but for white space. */
function isEmpty(object: Buffer, close: number): boolean {
  let at = close - 1
  while (at > 0 && (object[at] ?? 0) <= SPACE) at--
  return object[at] === OPENING_BRACE
}

const SPACE = 0x20
const OPENING_BRACE = 0x7b

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
