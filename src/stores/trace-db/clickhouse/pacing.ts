/** A pause is no longer than this, however long the work before it took. */
const PAUSE_MS_MAX = 250

/** Shorter work needs no pause: others get the processors soon enough, and timers are not more exact. */
const WORK_MS_MIN = 2

/**
 * Pauses of owners that have more work waiting while others are active. A pause is as long as the piece of work before
 * it, so a flood uses the processors for half of the time: all threads of the database have the same priority, and
 * without pauses small work of other owners would take several times as long.
 */
export interface Pacing {
  /** Pauses an owner after work that took this many milliseconds. */
  pause(owner: string, workMs: number): void
  isPaused(owner: string): boolean
}

/** @param onEnd called when a pause is over */
export function createPacing(onEnd: () => void): Pacing {
  const paused = new Set<string>()
  return {
    pause(owner, workMs) {
      if (workMs < WORK_MS_MIN || paused.has(owner)) return
      paused.add(owner)
      function end(): void {
        paused.delete(owner)
        onEnd()
      }
      setTimeout(end, Math.min(workMs, PAUSE_MS_MAX))
    },
    isPaused: (owner) => paused.has(owner),
  }
}
