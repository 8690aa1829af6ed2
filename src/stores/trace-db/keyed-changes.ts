import { type Query, rowsOf, type TraceDb } from './port.ts'

/** The values by which rows are found, by the names of their columns. */
export type Key<Column extends string = string> = Record<Column, string>

/** Keys that one query finds: some megabytes. */
export const KEYS_AT_ONCE = 50_000

/**
 * Bytes of the keys of one change. A cluster keeps the text of a change in Keeper, whose nodes have at most 1 MiB, and
 * ClickHouse makes no set of a constant of 1 MiB and more (`trace/query-language/params.ts`).
 */
const KEY_BYTES_MAX = 512 * 1024

/** A comma and two quotes with their escapes, for each text. */
const MARKS_BYTES = 6

/**
 * Changes the rows with the keys that a query finds, as few times as the length of a statement allows. A change cannot
 * have the query as its condition: tables that are replicated refuse it, since each replica would find rows at a moment
 * of its own.
 * @param found at most {@link KEYS_AT_ONCE} keys; a key whose rows were changed is not found again
 */
export async function changeByKeys<Found extends Key>(
  traces: Pick<TraceDb, 'query'>,
  found: Query,
  change: (keys: readonly Found[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const keys = await rowsOf(traces.query<Found>(found))
    for (const batch of inChanges(keys)) {
      signal.throwIfAborted()
      await change(batch)
    }
    if (keys.length < KEYS_AT_ONCE) return
  }
}

/** SQL that is true for rows with one of the keys, by what makes each of their values, and the values of the SQL. */
export function hasOneOf<Column extends string>(
  expressions: Readonly<Record<Column, string>>,
  keys: readonly Key<Column>[],
): { where: string; params: Query['params'] } {
  // Object.keys knows no names.
  const columns = Object.keys(expressions) as Column[]
  const lists = columns.map((column) => [`keys_${column}`, keys.map((key) => key[column])] as const)
  const bound = lists.map(([name]) => `{${name}:Array(String)}`).join(', ')
  const tuple = columns.map((column) => expressions[column]).join(', ')
  return { where: `(${tuple}) IN arrayZip(${bound})`, params: Object.fromEntries(lists) }
}

/** The keys of one change after the other. */
export function* inChanges<Found extends Key>(keys: readonly Found[]): Generator<Found[]> {
  let batch: Found[] = []
  let bytes = 0
  for (const key of keys) {
    const own = Object.values(key).reduce((sum, text) => sum + Buffer.byteLength(text) + MARKS_BYTES, 0)
    if (batch.length > 0 && bytes + own > KEY_BYTES_MAX) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(key)
    bytes += own
  }
  if (batch.length > 0) yield batch
}
