import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { messageOf, StoreFailed } from '../../errors.ts'
import { slicesOf } from '../../slices.ts'
import { withoutNul } from '../../without-nul.ts'
import { type ControlDb, UniqueViolation } from '../control-db/port.ts'
import { listTables, type StoredTable } from '../control-db/table-list.ts'
import { type MoveOptions, MoveRefused } from './move-options.ts'

/** Rows that are read at a time; the largest have some megabytes. */
const PAGE_ROWS = 200

/** Values of one statement: SQLite takes 32,766, PostgreSQL 65,535. */
const VALUES_MAX = 30_000

/** Tables that each database has of its own: what was applied to it, and where its data came from. */
const OWN_TABLES = new Set(['kysely_migration', 'kysely_migration_lock', 'migration_checksums', 'moves'])

/** Any table, whose columns are found out. */
type Tables = Record<string, Record<string, unknown>>

/** What is compared of a table. */
interface Digest {
  rows: number
  sum: bigint
}

/** A table as it is to be at the target. */
interface Wanted extends Digest {
  /** Texts with U+0000. */
  replaced: number
  /** Of the first rows with such a text. */
  keys: string[]
}

/** Keys that an error names. */
const KEYS_SHOWN = 5

/** What was moved of a control database. */
export interface MovedControlRows {
  /** By table. */
  rows: Map<string, number>
  /** By table, where there are any: texts in which U+0000 has become U+FFFD. */
  replacedTexts: Map<string, number>
}

/** Sums of hashes are taken modulo this. */
const SUM_LIMIT = 1n << 256n

/**
 * Makes the rows of a control database those of another, whose rows do not change meanwhile. Tables that are equal
 * already are only compared; one that is not is copied whole, in one transaction, and compared again. Texts with
 * U+0000, which no adapter stores and older servers did, have U+FFFD instead.
 * @throws MoveRefused with the table that the target refuses, or that differs after it was copied
 */
export async function moveControlRows(
  source: ControlDb,
  target: ControlDb,
  { onProgress, signal }: MoveOptions,
): Promise<MovedControlRows> {
  const [from, to] = [anyTables(source), anyTables(target)]
  const moved: MovedControlRows = { rows: new Map(), replacedTexts: new Map() }
  for (const table of await tablesOf(source)) {
    signal.throwIfAborted()
    const wanted = await wantedOf(from, table)
    if (!isEqual(await digestOf(to, table), wanted)) {
      try {
        await copy({ from, to, table }, signal)
      } catch (error) {
        throw signal.aborted || error instanceof StoreFailed ? error : refusalOf(error, table, wanted)
      }
      if (!isEqual(await digestOf(to, table), wanted))
        throw new MoveRefused(`The table ${table.name} differs after it was copied`)
    }
    moved.rows.set(table.name, wanted.rows)
    if (wanted.replaced > 0) moved.replacedTexts.set(table.name, wanted.replaced)
    onProgress({ store: 'control_db', what: table.name, done: wanted.rows })
  }
  return moved
}

/** Whether a control database has no rows yet besides those of its migrations. */
export async function hasNoControlRows(control: ControlDb): Promise<boolean> {
  const db = anyTables(control)
  for (const { name } of await tablesOf(control)) {
    const row = await db.selectFrom(name).select(sql<number>`1`.as('one')).limit(1).executeTakeFirst()
    if (row !== undefined) return false
  }
  return true
}

function anyTables(control: ControlDb): Kysely<Tables> {
  return control as Kysely<unknown> as Kysely<Tables>
}

async function copy(
  { from, to, table }: { from: Kysely<Tables>; to: Kysely<Tables>; table: StoredTable },
  signal: AbortSignal,
): Promise<void> {
  await to.transaction().execute(async (transaction) => {
    await transaction.deleteFrom(table.name).execute()
    for await (const rows of pagesOf(from, table)) {
      signal.throwIfAborted()
      await insert(transaction, table, rows.map(storable))
    }
  })
}

function refusalOf(error: unknown, { name }: StoredTable, { keys }: Wanted): MoveRefused {
  const cause = error instanceof UniqueViolation ? error.cause : error
  const clash =
    error instanceof UniqueViolation && keys.length > 0
      ? `; the key of a row may be another one's once its U+0000 is U+FFFD: ${keys.join(', ')}`
      : ''
  return new MoveRefused(`The table ${name} cannot be copied: ${messageOf(cause)}${clash}`, { cause: error })
}

function storable(row: Tables[string]): Tables[string] {
  if (!Object.values(row).some(hasNul)) return row
  const values = Object.entries(row).map(([column, value]) => [
    column,
    hasNul(value) ? withoutNul(value) : value,
  ])
  return Object.fromEntries(values)
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

async function insert(
  db: Kysely<Tables>,
  table: StoredTable,
  rows: readonly Tables[string][],
): Promise<void> {
  const rowsMax = Math.floor(VALUES_MAX / table.columns.length)
  for (const some of slicesOf(rows, rowsMax)) await db.insertInto(table.name).values(some).execute()
}

/** All rows, some at a time, in the order of the primary key. */
async function* pagesOf(db: Kysely<Tables>, table: StoredTable): AsyncGenerator<Tables[string][]> {
  const key = table.primaryKey
  for (let last: Tables[string] | undefined; ; ) {
    let query = db.selectFrom(table.name).selectAll().limit(PAGE_ROWS)
    for (const column of key) query = query.orderBy(column)
    if (last !== undefined) {
      const columns = sql.join(key.map((column) => sql.ref(column)))
      const values = sql.join(key.map((column) => last?.[column]))
      query = query.where(sql<boolean>`(${columns}) > (${values})`)
    }
    const rows = await query.execute()
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    last = rows.at(-1)
  }
}

async function digestOf(db: Kysely<Tables>, table: StoredTable): Promise<Digest> {
  const digest: Digest = { rows: 0, sum: 0n }
  for await (const page of pagesOf(db, table)) addRows(digest, page, table)
  return digest
}

async function wantedOf(db: Kysely<Tables>, table: StoredTable): Promise<Wanted> {
  const wanted: Wanted = { rows: 0, sum: 0n, replaced: 0, keys: [] }
  for await (const page of pagesOf(db, table)) {
    addRows(wanted, page.map(storable), table)
    for (const row of page) {
      const replaced = Object.values(row).filter(hasNul).length
      wanted.replaced += replaced
      if (replaced > 0 && wanted.keys.length < KEYS_SHOWN)
        wanted.keys.push(JSON.stringify(table.primaryKey.map((column) => row[column])))
    }
  }
  return wanted
}

function addRows(digest: Digest, rows: readonly Tables[string][], { columns }: StoredTable): void {
  for (const row of rows) {
    const text = JSON.stringify(columns.map((column) => row[column]))
    digest.sum += BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
  }
  digest.rows += rows.length
  digest.sum %= SUM_LIMIT
}

const isEqual = (one: Digest, other: Digest): boolean => one.rows === other.rows && one.sum === other.sum

async function tablesOf(control: ControlDb): Promise<StoredTable[]> {
  return (await listTables(control)).filter(({ name }) => !OWN_TABLES.has(name))
}
