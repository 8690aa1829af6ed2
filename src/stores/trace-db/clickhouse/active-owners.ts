/**
 * An owner counts as active for this long after its last request: the time between two requests of an interactive user.
 */
const ACTIVE_MS = 3_000

/** The owners that made requests recently. */
export interface ActiveOwners {
  note(owner: string): void
  count(): number
}

export function createActiveOwners(): ActiveOwners {
  /** The most recently active owner is the last key. */
  const asked = new Map<string, number>()
  return {
    note(owner) {
      asked.delete(owner)
      asked.set(owner, performance.now())
    },
    count() {
      for (const [owner, at] of asked) {
        if (performance.now() - at < ACTIVE_MS) break
        asked.delete(owner)
      }
      return asked.size
    },
  }
}
