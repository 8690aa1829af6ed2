import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { ControlDb } from '../control-db/port.ts'
import { listTables, type StoredTable } from '../control-db/table-list.ts'
import type { MoveOptions } from './move-options.ts'

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

/** Sums of hashes are taken modulo this. */
const SUM_LIMIT = 1n << 256n

/**
 * Makes the rows of a control database those of another, whose rows do not change meanwhile. Tables that are equal already are
 * only compared; one that is not is copied whole, in one transaction, and compared again.
 * @returns rows by table
 * @throws Error with the table that differs after it was copied
 */
export async function moveControlRows(
  source: ControlDb,
  target: ControlDb,
  { onProgress, signal }: MoveOptions,
): Promise<Map<string, number>> {
  const [from, to] = [anyTables(source), anyTables(target)]
  const moved = new Map<string, number>()
  for (const table of await tablesOf(source)) {
    signal.throwIfAborted()
    const wanted = await digestOf(from, table)
    if (!isEqual(await digestOf(to, table), wanted)) {
      await to.transaction().execute(async (transaction) => {
        await transaction.deleteFrom(table.name).execute()
        for await (const rows of pagesOf(from, table)) {
          signal.throwIfAborted()
          await insert(transaction, table, rows)
        }
      })
      if (!isEqual(await digestOf(to, table), wanted))
        throw new Error(`The table ${table.name} differs after it was copied`)
    }
    moved.set(table.name, wanted.rows)
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

async function insert(
  db: Kysely<Tables>,
  table: StoredTable,
  rows: readonly Tables[string][],
): Promise<void> {
  const rowsMax = Math.floor(VALUES_MAX / table.columns.length)
  for (let start = 0; start < rows.length; start += rowsMax)
    await db
      .insertInto(table.name)
      .values(rows.slice(start, start + rowsMax))
      .execute()
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
  for await (const page of pagesOf(db, table)) {
    for (const row of page) {
      const text = JSON.stringify(table.columns.map((column) => row[column]))
      digest.sum += BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
    }
    digest.rows += page.length
    digest.sum %= SUM_LIMIT
  }
  return digest
}

const isEqual = (one: Digest, other: Digest): boolean => one.rows === other.rows && one.sum === other.sum

async function tablesOf(control: ControlDb): Promise<StoredTable[]> {
  return (await listTables(control)).filter(({ name }) => !OWN_TABLES.has(name))
}
