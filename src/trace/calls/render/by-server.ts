import type { ColumnType } from '../../../stores/trace-db/port.ts'
import { type RowBinary, readRowBinary } from '../../../stores/trace-db/row-binary.ts'
import { isoOfMicros } from '../../../time.ts'
import { PAYLOADS } from '../sql/table.ts'
import { addCall, createText, type ShownCall, type Text, type Value } from './call-text.ts'
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
  let calls = 0
  for (const _ of addedCalls(text, rows, shown)) calls++
  return { lines: text.written(), calls }
}

/** The same, each line by the id of its call, in the order of the rows. */
export function renderRowsById(rows: Uint8Array, shown: ShownColumns): Map<string, Buffer> {
  const text = createText(rows.byteLength)
  const ends: { id: string; end: number }[] = []
  for (const { values } of addedCalls(text, rows, shown))
    ends.push({ id: String(values.get('id')), end: text.written().byteLength })
  const lines = text.written()
  return new Map(ends.map(({ id, end }, index) => [id, lines.subarray(ends[index - 1]?.end ?? 0, end)]))
}

/** Adds the lines of rows to a text; yields each call once its line is there. */
function* addedCalls(text: Text, rows: Uint8Array, shown: ShownColumns): Generator<ShownCall> {
  const members = callMembers(shown)
  for (const row = readRowBinary(rows); !row.done(); ) {
    const call = readCall(row, members)
    addCall(text, call, members)
    yield call
  }
}

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

function readCall(row: RowBinary, members: readonly Member[]): ShownCall {
  const values = new Map<string, Value>()
  for (const { name, column } of members) if (column) values.set(name, READ[column.form](row))
  const errorCount = row.count()
  const [attributes, inputs, output, summary] = [row.bytes(), row.bytes(), row.bytes(), row.bytes()]
  return { values, errorCount, payloads: { attributes, inputs, output, summary } }
}
