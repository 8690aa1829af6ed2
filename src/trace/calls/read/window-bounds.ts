import { LRUCache } from 'lru-cache'
import { firstOf, type Query, type TraceDb } from '../../../stores/trace-db/port.ts'
import { bytesDigest } from '../../digest.ts'
import { risesWithTime } from '../sql/rising-id.ts'
import type { Selection } from '../sql/selection.ts'
import type { List } from './list.ts'
import * as queries from './queries.ts'
import type { ScanWindow, WindowBound } from './scan-windows.ts'

/**
 * Limit of rows within a bound for scattered calls. Building a set of as many ids takes some 0.1 s and 30 MB of memory.
 */
const SCATTERED_ROWS_MAX = 2 ** 18

const REMEMBERED_MS = 10_000
const BOUNDS_MAX = 1000

/** Finds the bounds of scan windows. */
export interface WindowBounds {
  /**
   * Undefined where the window would hold all calls, or more rows than are looked up by id ({@link
   * SCATTERED_ROWS_MAX}).
   */
  of(list: List, window: ScanWindow): Promise<WindowBound | undefined>
}

/**
 * Bounds are remembered for some seconds, since pages that follow one another and different lists of one project share
 * them. A bound only chooses where a list is searched first, so an old one does no harm, even when other servers have
 * written calls since.
 */
export function createWindowBounds({ traces }: { traces: TraceDb }): WindowBounds {
  const bounds = new LRUCache<string, { bound: WindowBound | undefined }>({
    max: BOUNDS_MAX,
    ttl: REMEMBERED_MS,
  })
  return {
    async of({ selection, context }, window) {
      const key = bytesDigest(JSON.stringify([selection.project_id, selection.filter, window]))
      const known = bounds.get(key)
      if (known !== undefined) return known.bound
      const bound = await find(selection, window, context.signal)
      bounds.set(key, { bound })
      return bound
    },
  }

  async function find(
    selection: Selection,
    window: ScanWindow,
    signal: AbortSignal,
  ): Promise<WindowBound | undefined> {
    const { direction } = window
    const rowOf = <Row>(query: Query): Promise<Row | undefined> => firstOf(traces.query<Row>(query, signal))
    const byId = await rowOf<{ id: string; started_at: string }>(queries.selectBoundById(selection, window))
    if (byId === undefined) return undefined
    if (risesWithTime(byId.id)) return { direction, edge: byId.started_at, calls: 'adjacent' }
    const byStart = await rowOf<{ started_at: string }>(queries.selectBoundByStart(selection, window))
    if (byStart === undefined) return undefined
    const bound: WindowBound = { direction, edge: byStart.started_at, calls: 'scattered' }
    const within = await rowOf<{ count: number }>(
      queries.countWithin(selection, bound, SCATTERED_ROWS_MAX + 1),
    )
    return within !== undefined && within.count <= SCATTERED_ROWS_MAX ? bound : undefined
  }
}
