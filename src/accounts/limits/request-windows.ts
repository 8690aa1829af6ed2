import { LRUCache } from 'lru-cache'

/** Subjects whose requests are counted; one that is forgotten begins a new minute. */
const COUNTED_MAX = 50_000

const WINDOW_MS = 60_000

/** How many requests of the current minute are left. */
export interface RequestsLeft {
  limit: number
  remaining: number
  /** Until the minute ends. */
  resetSeconds: number
}

/** Counts requests by minutes, which begin with the first request of a subject. */
export interface RequestWindows {
  /** Counts one; `remaining` is -1 where it is one too many, which is not counted. */
  take(subject: string, limit: number): RequestsLeft
}

/** @param now milliseconds of any clock that rises */
export function createRequestWindows(now: () => number = () => performance.now()): RequestWindows {
  const windows = new LRUCache<string, { endsAt: number; count: number }>({ max: COUNTED_MAX })

  return {
    take(subject, limit) {
      const at = now()
      const known = windows.get(subject)
      const window = known !== undefined && known.endsAt > at ? known : { endsAt: at + WINDOW_MS, count: 0 }
      if (window !== known) windows.set(subject, window)
      const resetSeconds = Math.ceil((window.endsAt - at) / 1000)
      if (window.count >= limit) return { limit, remaining: -1, resetSeconds }
      window.count++
      return { limit, remaining: limit - window.count, resetSeconds }
    },
  }
}
