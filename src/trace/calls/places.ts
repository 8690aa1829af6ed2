import { LRUCache } from 'lru-cache'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { bytesDigest } from '../digest.ts'
import type { List } from './list.ts'
import * as queries from './queries.ts'
import { createTableSize } from './table-size.ts'
import { type TimeBound, type TimeWindow, timeWindows } from './time-window.ts'

/** Calls among which a list looks by their ids. */
const CANDIDATES_MAX = 200

/** An old bound does no harm: a list looks at the calls that came since, too. */
const BOUND_MS = 10_000
const BOUNDS_MAX = 1000

export type Places = ReturnType<typeof createPlaces>

/** Where the calls of a list should be: to look there first takes less than to look at all. */
export function createPlaces({ traces }: { traces: TraceDb }) {
  const tableSize = createTableSize({ traces })
  const bounds = new LRUCache<string, { bound: TimeBound | undefined }>({ max: BOUNDS_MAX, ttl: BOUND_MS })

  /** Undefined where the window holds everything. */
  async function boundOf({ selection, context }: List, window: TimeWindow): Promise<TimeBound | undefined> {
    const key = bytesDigest(JSON.stringify([selection.project_id, selection.filter, window]))
    const known = bounds.get(key)
    if (known !== undefined) return known.bound
    const query = queries.selectBound(selection, window)
    const row = await firstOf(traces.query<{ started_at: string }>(query, context.signal))
    const bound = row && { direction: window.direction, edge: row.started_at }
    bounds.set(key, { bound })
    return bound
  }

  /** Ids among which those of the list are; undefined for many. */
  async function candidatesOf({ req, selection, context }: List): Promise<readonly string[] | undefined> {
    const named = req.filter?.call_ids
    if (named?.length) return named.length <= CANDIDATES_MAX ? [...new Set(named)] : undefined
    const query = queries.selectCandidates(selection, CANDIDATES_MAX + 1)
    if (query === undefined) return undefined
    const rows = await rowsOf(traces.query<{ id: string }>(query, context.signal))
    return rows.length <= CANDIDATES_MAX ? [...new Set(rows.map(({ id }) => id))] : undefined
  }

  return {
    isLarge: tableSize.isLarge,

    /** Places to look at one after another until the list is full; the last holds all of it. */
    async *of(list: List): AsyncGenerator<queries.Within> {
      const ids = await candidatesOf(list)
      if (ids !== undefined) return yield { ids }
      const windows = (await tableSize.isLarge()) ? timeWindows(list.selection, list.page) : []
      for (const window of windows) {
        const bound = await boundOf(list, window)
        if (bound === undefined) break
        yield { bound }
      }
      yield {}
    },
  }
}
