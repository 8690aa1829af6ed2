const MINUTE_MS = 60_000

/**
 * What was used of a number per minute. It empties evenly, at the full number within a minute. The cost of work may be
 * known only at its end, so more may be used than there is; nothing is left then until that much has emptied. A changed
 * number holds at once, for what was used before as well.
 */
export interface TokenBucket {
  /** How much may still be used; zero or less where nothing is left. */
  left(): number
  use(count: number): void
  /** Milliseconds until this much is left. */
  msUntil(left: number): number
  isUnused(): boolean
}

/** @param perMinute the number, which may change; infinite for no limit */
export function createTokenBucket(perMinute: () => number): TokenBucket {
  let used = 0
  let at = performance.now()

  const isUnlimited = (): boolean => perMinute() === Number.POSITIVE_INFINITY

  function empty(): void {
    const now = performance.now()
    // A limit that was removed: no time at all times an infinite number is not a number.
    used = isUnlimited() ? 0 : Math.max(0, used - ((now - at) / MINUTE_MS) * perMinute())
    at = now
  }

  return {
    left() {
      empty()
      return perMinute() - used
    },
    use(count) {
      empty()
      if (!isUnlimited()) used += count
    },
    msUntil(left) {
      empty()
      return Math.max(0, ((left - (perMinute() - used)) / perMinute()) * MINUTE_MS)
    },
    isUnused() {
      empty()
      return used === 0
    },
  }
}
