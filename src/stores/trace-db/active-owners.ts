/** An owner counts as active for this long after it last asked for something: between two questions of a person at work. */
const ACTIVE_MS = 3_000

/** Who has asked for something of late. */
export interface ActiveOwners {
  note(owner: string): void
  count(): number
}

export function createActiveOwners(): ActiveOwners {
  /** The last one to ask is the last key. */
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
