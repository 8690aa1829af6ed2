import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { List } from './list.ts'
import * as queries from './queries.ts'
import { createTableSize } from './table-size.ts'
import { timeWindows } from './time-window.ts'

/** Calls among which a list looks by their ids. */
const CANDIDATES_MAX = 200

export type Places = ReturnType<typeof createPlaces>

/** Where the calls of a list should be: to look there first takes less than to look at all. */
export function createPlaces({ traces }: { traces: TraceDb }) {
  const tableSize = createTableSize({ traces })
  return {
    isLarge: tableSize.isLarge,

    /** Ids among which those of the list are; undefined for many. */
    async candidatesOf({ req, selection, context }: List): Promise<readonly string[] | undefined> {
      const named = req.filter?.call_ids
      if (named?.length) return named.length <= CANDIDATES_MAX ? [...new Set(named)] : undefined
      const query = queries.selectCandidates(selection, CANDIDATES_MAX + 1)
      if (query === undefined) return undefined
      const rows = await rowsOf(traces.query<{ id: string }>(query, context.signal))
      return rows.length <= CANDIDATES_MAX ? [...new Set(rows.map(({ id }) => id))] : undefined
    },

    /** Places to look at one after another until the list is full; the last is everywhere. */
    async *of({ selection, page, context }: List): AsyncGenerator<queries.Within> {
      for (const window of (await tableSize.isLarge()) ? timeWindows(selection, page) : []) {
        const query = queries.selectBound(selection, window)
        const bound = await firstOf(traces.query<{ started_at: string }>(query, context.signal))
        if (bound === undefined) break
        yield { bound: { direction: window.direction, edge: bound.started_at } }
      }
      yield {}
    },
  }
}
