import { setTimeout as delay } from 'node:timers/promises'
import { firstOf, type Query, rowsOf, type TraceDb } from '../trace-db/port.ts'
import { type MoveOptions, MoveRefused } from './move-options.ts'

/** Bytes of a range: a query ends after a minute, also where the network is slow. */
const RANGE_BYTES = 16 * 1024 * 1024

/** Rows of the first range of a table, whose sizes are not known: a payload may have some megabytes. */
const FIRST_ROWS = 256

/** A range of small rows grows by this much at most, since the next rows may be larger. */
const GROWTH_MAX = 8

const RANGE_ROWS_MAX = 1_000_000

/** Deletions are finished by the database in its own time. */
const POLL_MS = 500

/** Two states of a range may differ once, where an earlier move was interrupted. */
const COPIES_MAX = 2

type Traces = Pick<TraceDb, 'query' | 'native' | 'insertNative' | 'command'>

/** A table and what of it is copied. */
interface Table {
  name: string
  /** Its sorting key: all rows of one key are one row once they are merged. */
  key: readonly Column[]
  columns: readonly Column[]
}

interface Column {
  name: string
  type: string
}

/** Rows whose key is after `after` and not after `upTo`; without an end on a side that is undefined. */
interface Range {
  after: readonly string[] | undefined
  upTo: readonly string[] | undefined
}

/** What is compared of a range. */
interface Digest {
  rows: number
  /** The sum of the hashes of all rows, which their order does not change. */
  sum: string
}

/**
 * Makes the rows of a trace database those of another, whose rows do not change meanwhile. They are read as queries see
 * them, merged, so that each key is one row, whose order of arrival no longer matters. A range is compared before it is
 * copied, so a move that was interrupted goes on, and after it, so a difference is an error.
 * @returns rows by table
 * @throws MoveRefused with the table that differs after it was copied, or whose columns do
 */
export async function moveTraceRows(
  from: Traces,
  to: Traces,
  { onProgress, signal }: MoveOptions,
): Promise<Map<string, number>> {
  await untilDeletionsAreDone(from, signal)
  const moved = new Map<string, number>()
  for (const table of await tablesOf(from, to)) {
    let rows = 0
    let bytesPerRow = RANGE_BYTES / FIRST_ROWS
    let rangeRows = FIRST_ROWS
    for (let after: Range['after']; ; ) {
      signal.throwIfAborted()
      const upTo = await keyAt(from, table, after, rangeRows)
      const range = await moveRange({ from, to, table }, { after, upTo }, signal)
      rows += range.rows
      onProgress({ store: 'trace_db', what: table.name, done: rows })
      if (upTo === undefined) break
      if (range.copiedBytes > 0) bytesPerRow = range.copiedBytes / range.rows
      rangeRows = Math.ceil(Math.min(RANGE_BYTES / bytesPerRow, rangeRows * GROWTH_MAX, RANGE_ROWS_MAX))
      after = upTo
    }
    moved.set(table.name, rows)
  }
  return moved
}

/** Whether a trace database has no rows yet. */
export async function hasNoTraceRows(traces: Pick<Traces, 'query'>): Promise<boolean> {
  for (const name of await movedTables(traces)) {
    const row = await firstOf(traces.query({ sql: `SELECT 1 FROM ${name} LIMIT 1`, params: {} }))
    if (row !== undefined) return false
  }
  return true
}

/** Rows that a deletion has yet to reach would be copied, and stay. */
async function untilDeletionsAreDone(from: Traces, signal: AbortSignal): Promise<void> {
  const sql =
    'SELECT count() AS count FROM system.mutations WHERE database = currentDatabase() AND NOT is_done AND NOT is_killed'
  for (;;) {
    signal.throwIfAborted()
    const pending = await firstOf(from.query<{ count: number }>({ sql, params: {} }))
    if (pending?.count === 0) return
    await delay(POLL_MS, undefined, { signal })
  }
}

interface Between {
  from: Traces
  to: Traces
  table: Table
}

async function moveRange(
  { from, to, table }: Between,
  range: Range,
  signal: AbortSignal,
): Promise<{ rows: number; copiedBytes: number }> {
  const wanted = await digestOf(from, table, range)
  let copiedBytes = 0
  for (let copies = 0; ; copies++) {
    const found = await digestOf(to, table, range)
    if (found.rows === wanted.rows && found.sum === wanted.sum) return { rows: wanted.rows, copiedBytes }
    if (copies === COPIES_MAX)
      throw new MoveRefused(
        `The table ${table.name} differs after it was copied: ${wanted.rows} rows became ${found.rows}`,
      )
    if (found.rows > 0) await to.command(ofRange(`DELETE FROM ${table.name}`, table, range))
    const columns = table.columns.map(({ name }) => name)
    const query = ofRange(`SELECT ${columns.join(', ')} FROM ${table.name} FINAL`, table, range)
    const counted = counting(from.native(query, signal))
    await to.insertNative(table.name, columns, counted.bytes)
    copiedBytes = counted.count()
  }
}

function counting(source: AsyncIterable<Uint8Array>) {
  let count = 0
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      count += piece.length
      yield piece
    }
  }
  return { bytes: bytes(), count: () => count }
}

async function digestOf(traces: Traces, table: Table, range: Range): Promise<Digest> {
  const values = table.columns.map(({ name, type }) =>
    // A set, whose order is that of its merges.
    type.startsWith('SimpleAggregateFunction(groupUniqArray') ? `arraySort(${name})` : name,
  )
  const hashes = `SELECT cityHash64(formatRow('RowBinary', ${values.join(', ')})) FROM ${table.name} FINAL`
  const { sql, params } = ofRange(hashes, table, range)
  const sums = `SELECT count() AS rows, toString(sum(*)) AS sum FROM (${sql})`
  const digest = await firstOf(traces.query<Digest>({ sql: sums, params }))
  return digest ?? { rows: 0, sum: '0' }
}

/** The key of the row that is so many rows after a key; undefined where there are not as many. */
async function keyAt(
  traces: Traces,
  table: Table,
  after: Range['after'],
  rows: number,
): Promise<string[] | undefined> {
  const names = table.key.map(({ name }) => name)
  const select = `SELECT ${names.join(', ')} FROM ${table.name}`
  const { sql, params } = ofRange(select, table, { after, upTo: undefined })
  const texts = names.map((name) => `toString(${name})`).join(', ')
  const found = `SELECT [${texts}] AS texts FROM (${sql} ORDER BY ${names.join(', ')} LIMIT 1 OFFSET ${rows})`
  return (await firstOf(traces.query<{ texts: string[] }>({ sql: found, params })))?.texts
}

/**
 * A statement about the rows of a range. It names no results: a table may have a column of any name, and the database
 * takes such a name in a condition for the result.
 */
function ofRange(statement: string, { key }: Table, { after, upTo }: Range): Query {
  const conditions = [
    ...(after === undefined ? [] : [isAfter(key, 'a')]),
    ...(upTo === undefined ? [] : [`NOT (${isAfter(key, 'u')})`]),
  ]
  const named = (values: readonly string[], prefix: string) =>
    values.map((value, index) => [`${prefix}${index}`, value])
  return {
    sql: `${statement} WHERE ${conditions.length === 0 ? '1' : conditions.join(' AND ')}`,
    params: Object.fromEntries([...named(after ?? [], 'a'), ...named(upTo ?? [], 'u')]),
  }
}

/**
 * Whether a key is after another. Column by column: the database finds no range of its index in a comparison of tuples.
 */
function isAfter([column, ...others]: readonly Column[], prefix: string, index = 0): string {
  if (column === undefined) return '0'
  const value = `{${prefix}${index}:${column.type.replace(/^LowCardinality\((.*)\)$/, '$1')}}`
  const first = `${column.name} > ${value}`
  if (others.length === 0) return first
  return `(${first} OR ${column.name} = ${value} AND ${isAfter(others, prefix, index + 1)})`
}

/** Each database's own: its migrations, and which columns it has made for filters. */
const OWN_TABLES = ['migrations', 'leaf_uses']

/** The tables whose rows are moved. */
export async function movedTables(traces: Pick<Traces, 'query'>): Promise<string[]> {
  const sql = `SELECT DISTINCT name FROM system.tables
    WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT IN {own:Array(String)} ORDER BY name`
  const params = { own: OWN_TABLES }
  return (await rowsOf(traces.query<{ name: string }>({ sql, params }))).map(({ name }) => name)
}

async function tablesOf(from: Traces, to: Traces): Promise<Table[]> {
  const tables: Table[] = []
  for (const name of await movedTables(from)) {
    const columns = await columnsOf(from, name)
    const there = new Set((await columnsOf(to, name)).map((column) => column.name))
    const isKept = (column: StoredColumn) => there.has(column.name)
    const lost = columns.filter((column) => !isKept(column) && !column.is_derived)
    if (lost.length > 0) throw new MoveRefused(`The table ${name} has no column ${lost[0]?.name} there`)
    const key = columns.filter(({ key_place }) => key_place > 0).sort((a, b) => a.key_place - b.key_place)
    tables.push({ name, key, columns: columns.filter(isKept) })
  }
  return tables
}

interface StoredColumn extends Column {
  /** Its place in the sorting key, from 1; 0 for others. */
  key_place: number
  /** Whether the database computes it where it is not given. */
  is_derived: 0 | 1
}

function columnsOf(traces: Traces, table: string): Promise<StoredColumn[]> {
  const sql = `SELECT DISTINCT name, type, default_kind != '' AS is_derived,
      indexOf(splitByString(', ', (SELECT any(sorting_key) FROM system.tables
        WHERE database = currentDatabase() AND name = {table:String})), name) AS key_place
    FROM system.columns
    WHERE database = currentDatabase() AND table = {table:String} AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
    ORDER BY position`
  return rowsOf(traces.query<StoredColumn>({ sql, params: { table } }))
}
