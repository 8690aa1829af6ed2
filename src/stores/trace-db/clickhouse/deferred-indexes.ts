import { messageOf } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { Requests } from './server.ts'

/**
 * Skip indexes that neither inserts nor merges build (a table names them in its setting
 * `exclude_materialize_skip_indexes_on_merge` as well), because that takes longer than all the rest of a merge, and a
 * row is merged several times. A merge drops what its sources have of them. Where a part has none, its rows are
 * scanned.
 */
export const DEFERRED_INDEXES = ['inputs_words', 'output_words']

/** Searches may be slower for as long, and a check takes some milliseconds. */
const CHECK_EVERY_MS = 30_000

/** Fewer rows are scanned as fast. */
const ROWS_MIN = 20_000

/**
 * An index is built once the rows without it are those of so many minutes: while rows arrive, they are soon merged
 * again.
 */
const ARRIVALS_MIN = 20

/**
 * Where as many of the earlier rows lack an index after a build as before, merges have dropped it, or it cannot be
 * built. So the next build waits in proportion to the rows of that one: builds in vain, of some 24 us a row, take a
 * twentieth of the time.
 */
const PAUSE_MS_PER_ROW = 0.5

/**
 * What a query for whole words calls. It is answered by reading the index in place of the column, and where a part has
 * no index, by making the words of each of its documents before any cheaper condition: some 4 us a row. From this share
 * of rows without an index on, the index only says which granules to read. Parts of words, which are searched by
 * `LIKE`, are always faster with the index read directly.
 */
const WHOLE_WORDS = 'hasAllTokens('
const DIRECT_READ_SHARE_MAX = 0.1

/** A word that no text has: parts that an index of words does not exclude by it have no such index. */
const NO_WORD = 'qzxjqvkwzqxjvqkzwxqj'

interface Deferred {
  table: string
  /** Of all its deferred indexes. */
  names: string[]
  /** What they are made of. */
  expressions: string[]
}

export interface DeferredIndexes {
  /** Looks at once. */
  check(): Promise<void>
  /** What a read runs with, given the rows that lacked an index at the last check. */
  readSettings(sql: string): { query_plan_direct_read_from_text_index?: 0 }
  /** Resolves when no query of it runs any more; a build goes on, also after the next start. */
  stop(): Promise<void>
}

/** Builds indexes of parts that were inserted or merged, one table after the other, when enough rows lack them. */
export function buildDeferredIndexes({
  requests,
  log,
}: {
  requests: Requests
  log: Pick<Log, 'warn'>
}): DeferredIndexes {
  let looking: Promise<void> | undefined
  /** All rows of a table at the last check, when that was, and how many arrived in a minute before it. */
  const seen = new Map<string, { rows: number; at: number; perMinute: number }>()
  /** A build whose result was not looked at yet: all rows when it began, and those that lacked an index. */
  const begun = new Map<string, { rows: number; missing: number }>()
  const pausedUntil = new Map<string, number>()
  /** Of whose rows too many lack an index. */
  const sparse = new Set<string>()

  async function lookAt({ table, names, expressions }: Deferred): Promise<void> {
    const missing = await rowsWithout(expressions, table)
    const rows = await rowsOf(table)
    if (missing > DIRECT_READ_SHARE_MAX * rows) sparse.add(table)
    else sparse.delete(table)
    const arriving = arrivingPerMinute(table, rows)
    if (await isBusy(table)) return
    pauseIfUseless(table, { rows, missing })
    if (performance.now() < (pausedUntil.get(table) ?? 0)) return
    if (missing < Math.max(ROWS_MIN, ARRIVALS_MIN * arriving)) return
    const steps = names.map((name) => `MATERIALIZE INDEX ${name}`)
    await requests.run(`ALTER TABLE ${table} ${steps.join(', ')}`)
    begun.set(table, { rows, missing })
  }

  /**
   * How many rows arrive, by what a table has more than at the last check; infinite at the first one, when it is not
   * known. Of two checks the greater counts: a pause of one is not the end of an import.
   */
  function arrivingPerMinute(table: string, rows: number): number {
    const before = seen.get(table)
    const at = performance.now()
    const arrived = Math.max(0, rows - (before?.rows ?? rows))
    const perMinute = (arrived / (at - (before?.at ?? 0))) * 60_000
    seen.set(table, { rows, at, perMinute })
    return before === undefined ? Number.POSITIVE_INFINITY : Math.max(perMinute, before.perMinute)
  }

  function pauseIfUseless(table: string, now: { rows: number; missing: number }): void {
    const before = begun.get(table)
    if (before === undefined) return
    begun.delete(table)
    const arrived = Math.max(0, now.rows - before.rows)
    if (now.missing - arrived >= before.missing)
      pausedUntil.set(table, performance.now() + before.missing * PAUSE_MS_PER_ROW)
  }

  /** Whether indexes of a table are being built. */
  async function isBusy(table: string): Promise<boolean> {
    const builds = await requests.rows<{ reason: string }>(
      `SELECT latest_fail_reason AS reason FROM system.mutations
        WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done`,
      { table },
    )
    for (const { reason } of builds)
      if (reason !== '') log.warn({ table, reason }, 'indexes of the trace database could not be built yet')
    return builds.length > 0
  }

  async function rowsWithout(expressions: readonly string[], table: string): Promise<number> {
    const hasWord = expressions.map((expression) => `hasToken(${expression}, '${NO_WORD}')`).join(' OR ')
    const [found] = await requests.rows<{ rows: number }>(
      `EXPLAIN ESTIMATE SELECT 1 FROM ${table} WHERE ${hasWord}`,
    )
    return found?.rows ?? 0
  }

  async function rowsOf(table: string): Promise<number> {
    const [found] = await requests.rows<{ rows: number }>(
      `SELECT sum(rows) AS rows FROM system.parts
        WHERE active AND database = currentDatabase() AND table = {table:String}`,
      { table },
    )
    return found?.rows ?? 0
  }

  async function lookAtAll(): Promise<void> {
    try {
      for (const table of await deferred(requests)) await lookAt(table)
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'indexes of the trace database were not built')
    }
  }

  function check(): Promise<void> {
    looking ??= lookAtAll().finally(() => {
      looking = undefined
    })
    return looking
  }

  const timer = setInterval(() => void check(), CHECK_EVERY_MS).unref()

  return {
    check,
    readSettings: (sql) =>
      sparse.size > 0 && sql.includes(WHOLE_WORDS) ? { query_plan_direct_read_from_text_index: 0 } : {},
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}

function deferred(requests: Requests): Promise<Deferred[]> {
  return requests.rows<Deferred>(
    `SELECT table, groupArray(name) AS names, groupArray(expr) AS expressions FROM system.data_skipping_indices
      WHERE database = currentDatabase() AND has({names:Array(String)}, name) GROUP BY table`,
    { names: DEFERRED_INDEXES },
  )
}
