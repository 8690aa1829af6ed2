import type { Log } from '../../log.ts'
import { rowsOf, type TraceDb } from './port.ts'

/** A part of a table that could not be read when it was opened: its rows may be missing from query results. */
export interface BrokenPart {
  table: string
  name: string
  /** Where its files were moved to. */
  path: string
}

/** Parts that are logged one by one; the count has the total. */
const LOGGED_MAX = 100

/** ClickHouse's reason, before the name of the part. */
const PREFIX = 'broken-on-start_'

/** A part holds what was inserted as blocks `from` to `to`: https://clickhouse.com/docs/parts */
const PART_NAME = /^(?<partition>.+?)_(?<from>\d+)_(?<to>\d+)_\d+(_\d+)?(_try\d+)?$/

/**
 * The parts that ClickHouse has detached because it could not read them, which it does not report itself. They count
 * until their folders are removed. A part whose blocks are all in other parts has lost nothing and does not count.
 */
export async function findBrokenParts(db: TraceDb, log: Pick<Log, 'error'>): Promise<BrokenPart[]> {
  const detached = await rowsOf(
    db.query<BrokenPart>({
      sql: `SELECT table, name, path FROM system.detached_parts
        WHERE database = currentDatabase() AND startsWith(name, {prefix:String}) ORDER BY table, name`,
      params: { prefix: PREFIX },
    }),
  )
  if (detached.length === 0) return []
  const active = await rowsOf(
    db.query<{ table: string; name: string }>({
      sql: 'SELECT table, name FROM system.parts WHERE database = currentDatabase() AND active',
      params: {},
    }),
  )
  const byTable = Map.groupBy(active, ({ table }) => table)
  const broken = detached.filter(({ table, name }) => !isCovered(name, byTable.get(table) ?? []))
  for (const { table, name, path } of broken.slice(0, LOGGED_MAX))
    log.error(
      { table, part: name, path },
      'a part of the trace database cannot be read: its rows are missing',
    )
  return broken
}

function isCovered(brokenName: string, active: readonly { name: string }[]): boolean {
  const broken = rangeOf(brokenName.slice(PREFIX.length))
  if (broken === undefined) return false
  let missingFrom = broken.from
  const ranges = active
    .flatMap(({ name }) => rangeOf(name) ?? [])
    .filter(({ partition }) => partition === broken.partition)
    .sort((a, b) => a.from - b.from)
  for (const { from, to } of ranges) {
    if (from > missingFrom) break
    missingFrom = Math.max(missingFrom, to + 1)
  }
  return missingFrom > broken.to
}

function rangeOf(name: string): { partition: string; from: number; to: number } | undefined {
  const { partition, from, to } = PART_NAME.exec(name)?.groups ?? {}
  return partition === undefined ? undefined : { partition, from: Number(from), to: Number(to) }
}
