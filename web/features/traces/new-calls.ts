import { LIVE_MS } from '../../api/query-client.ts'

/** Pauses are so many times as long as a count takes: counts of very many calls would keep the server busy. */
const PAUSE_SHARE = 30

/** How many calls a list would have by now. */
export interface Counted {
  count: number
  /** The fewest that were counted. */
  least: number
  /** How long the last count took. */
  tookMs: number
}

export const NOT_COUNTED: Counted = { count: 0, least: Number.POSITIVE_INFINITY, tookMs: 0 }

/** The next count, after those `before`. */
export function counted(next: Pick<Counted, 'count' | 'tookMs'>, before = NOT_COUNTED): Counted {
  return { ...next, least: Math.min(next.count, before.least) }
}

/**
 * How many are new to a list of `listed` calls, some of which may have left it since: deleted, or no longer running.
 */
export function newSince({ count, least }: Counted, listed: number): number {
  return Math.max(0, count - Math.min(listed, least))
}

/** When to count again, in milliseconds. */
export function pauseMs({ tookMs } = NOT_COUNTED): number {
  return Math.max(LIVE_MS, tookMs * PAUSE_SHARE)
}
