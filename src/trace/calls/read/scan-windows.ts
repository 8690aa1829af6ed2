import type { SortedPage } from '../../query-language/page.ts'
import { isOfFamily } from '../sql/filter.ts'
import type { Selection } from '../sql/selection.ts'

/**
 * A list by start time needs only the newest (or oldest) calls, but the table is ordered by id. The start time of a row
 * some way from the end is a bound to look within. It is a guess: where a window has too few calls, a wider one
 * follows. Calls outside a window sort after all calls inside it.
 */
export interface ScanWindow {
  /** Of the list: `desc` for the newest calls. */
  direction: 'asc' | 'desc'
  /** Approximate number of candidate calls in the window. */
  calls: number
}

/** Where a window ends. */
export interface WindowBound {
  direction: 'asc' | 'desc'
  /** Start time, ISO 8601 in UTC. */
  edge: string
  /** Whether its calls are adjacent in the table, which is ordered by id, or scattered over it, as random ids are. */
  calls: 'adjacent' | 'scattered'
}

/** Lists that reach further are scanned in full at once. */
const CALLS_MAX = 2 ** 17

/** A query matches few of the calls it scans, so smaller windows do not pay. */
const QUERIED_CALLS_MIN = 2 ** 14

/** Each window with too few matches is followed by a larger one; then all calls are scanned. */
const GROWTH = 16

/** The windows to try one after another until the page is full; after the last, all calls are scanned. */
export function scanWindows(selection: Selection, page: SortedPage): ScanWindow[] {
  const [first] = page.sort_by
  if (page.limit === undefined || first?.field !== 'started_at' || isOfFamily(selection)) return []
  const windows: ScanWindow[] = []
  const looked = Math.max(page.limit + page.offset, selection.query == null ? 1 : QUERIED_CALLS_MIN)
  // Rounded to powers of two, so that a page and the next one have the same bound.
  let calls = 2 ** Math.ceil(Math.log2(looked))
  for (; calls <= CALLS_MAX; calls *= GROWTH) windows.push({ direction: first.direction, calls })
  return windows
}
