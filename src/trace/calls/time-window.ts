import type { Params } from '../query-language/params.ts'
import type { SortBy } from '../query-language/wire.ts'
import { isOfFamily, type Selection, startConditions } from './selection.ts'

/**
 * A list by start time needs only the newest (or oldest) calls, but the table is ordered by id. Ids mostly rise with
 * time, so a row some way from the end tells from when on to look. It is a guess: where it leaves too few calls, a wider
 * one follows, and what a window leaves out surely comes after all that it holds.
 */
export interface TimeWindow {
  direction: 'asc' | 'desc'
  /** About so many of the calls that may match are looked at. */
  calls: number
}

/** Where a window ends. */
export interface TimeBound {
  direction: 'asc' | 'desc'
  /** ISO 8601 in UTC. */
  edge: string
}

/** The row that tells the bound lies further away than there are calls to find, since ids rise not strictly with time. */
const SPARE_SHARE = 0.25
const SPARE_ROWS = 50

/** A list that goes deeper looks at everything at once. */
const CALLS_MAX = 2 ** 17

/** A query finds few of the calls it looks at, so looking at fewer does not pay. */
const QUERIED_CALLS_MIN = 2 ** 14

/** Each window that held too few matches is followed by a larger one; then everything is looked at. */
const GROWTH = 16

/** The windows to try one after another until the page is full; where none of them does, everything is looked at. */
export function timeWindows(
  selection: Selection,
  page: { sort_by: readonly SortBy[]; limit: number | undefined; offset: number },
): TimeWindow[] {
  const [first] = page.sort_by
  if (page.limit === undefined || first?.field !== 'started_at' || isOfFamily(selection)) return []
  const windows: TimeWindow[] = []
  const looked = Math.max(page.limit + page.offset, selection.query == null ? 1 : QUERIED_CALLS_MIN)
  // Powers of two, so that a page and the next one have the same bound.
  let calls = 2 ** Math.ceil(Math.log2(looked))
  for (; calls <= CALLS_MAX; calls *= GROWTH) windows.push({ direction: first.direction, calls })
  return windows
}

/** SQL for the bound; no row where the window holds everything. */
export function boundSql({ direction, calls }: TimeWindow, selection: Selection, params: Params): string {
  const row = params.bind(Math.ceil(calls * (1 + SPARE_SHARE)) + SPARE_ROWS, 'UInt64')
  return `SELECT started_at FROM calls WHERE ${startConditions(selection, params)}
    ORDER BY project_id ${direction}, id ${direction} LIMIT 1 OFFSET ${row}`
}

/** SQL that is true for what lies within the bound. */
export function withinSql({ direction, edge }: TimeBound, params: Params): string {
  const time = `parseDateTime64BestEffort(${params.bind(edge, 'String')}, 6, 'UTC')`
  return `started_at ${direction === 'desc' ? '>=' : '<='} ${time}`
}
