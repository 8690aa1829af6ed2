import { firstOf, isOutOfMemory, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { callTexts } from './call-text.ts'
import { hasExcerpt } from './fields.ts'
import { type List, shownCalls } from './list.ts'
import * as queries from './queries.ts'
import { isOfFamily } from './selection.ts'
import { createTableSize } from './table-size.ts'
import { type TimeBound, timeWindows } from './time-window.ts'

/** A list this short is read by one query, unless its calls take more memory than a query for a page should. */
const PAGE_CALLS = 100
const PAGE_BYTES_MAX = 256 * 1024 * 1024

/** Calls among which a list looks by their ids. */
const CANDIDATES_MAX = 200

/** Reads lists that are short, or whose calls are easily found, by as few queries as can be: most of their time is planning. */
export function createShortLists({ traces }: { traces: TraceDb }) {
  const tableSize = createTableSize({ traces })

  /** The bounds within which a list looks, one after another until it is full; at last it looks everywhere. */
  async function* boundsOf({ selection, page, context }: List): AsyncGenerator<TimeBound | undefined> {
    for (const window of (await tableSize.isLarge()) ? timeWindows(selection, page) : []) {
      const query = queries.selectBound(selection, window)
      const bound = await firstOf(traces.query<{ started_at: string }>(query, context.signal))
      if (bound === undefined) break
      yield { direction: window.direction, edge: bound.started_at }
    }
    yield undefined
  }

  /** A list whose calls are known to be among few; undefined where they are not. */
  async function amongFew(list: List): Promise<Buffer[] | undefined> {
    const { req, selection, page, context } = list
    const candidates = await candidatesOf(list)
    if (candidates === undefined || req.include_total_storage_size) return undefined
    if (candidates.size === 0) return []
    const shown = shownCalls(list)
    const options = { ids: [...candidates], bytesMax: PAGE_BYTES_MAX }
    const query = queries.selectAmong(selection, page, shown, options)
    const pieces = await rowsOf(traces.rowBinary(query, context.signal))
    return pieces.map((rows) => callTexts(rows, shown).texts)
  }

  async function candidatesOf({ req, selection, context }: List): Promise<ReadonlySet<string> | undefined> {
    const named = req.filter?.call_ids
    if (named?.length) return named.length <= CANDIDATES_MAX ? new Set(named) : undefined
    const query = queries.selectCandidates(selection, CANDIDATES_MAX + 1)
    if (query === undefined) return undefined
    const rows = await rowsOf(traces.query<{ id: string }>(query, context.signal))
    return rows.length <= CANDIDATES_MAX ? new Set(rows.map(({ id }) => id)) : undefined
  }

  /** A short list read by one query, as long as that looks at few calls; undefined where it does not do. */
  async function pageAtOnce(list: List): Promise<Buffer[] | undefined> {
    const { selection, page, context } = list
    if (page.limit === undefined || page.limit > PAGE_CALLS) return undefined
    // In their excerpts it is found sooner than both queries take.
    if (page.sort_by.some(({ field }) => hasExcerpt(field))) return undefined
    const shown = shownCalls(list)
    for await (const bound of boundsOf(list)) {
      if (bound === undefined && (await tableSize.isLarge()) && !isOfFamily(selection)) return undefined
      const query = queries.selectPage(selection, page, shown, { bound, bytesMax: PAGE_BYTES_MAX })
      const pieces = await rowsOf(traces.rowBinary(query, context.signal))
      const read = pieces.map((rows) => callTexts(rows, shown))
      const calls = read.reduce((sum, piece) => sum + piece.calls, 0)
      if (bound === undefined || calls === page.limit) return read.map(({ texts }) => texts)
    }
    return undefined
  }

  return {
    /** The texts of a list of few calls; undefined where there are many, or they take more memory than one query should. */
    async atOnce(list: List): Promise<Buffer[] | undefined> {
      try {
        return (await amongFew(list)) ?? (await pageAtOnce(list))
      } catch (error) {
        if (!isOutOfMemory(error)) throw error
        return undefined
      }
    },
  }
}
