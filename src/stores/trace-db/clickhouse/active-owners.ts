import { entityOf } from '../../../fairness/fair-queue.ts'

/**
 * An owner counts as active for this long after its last request: the time between two requests of an interactive user.
 */
const ACTIVE_MS = 3_000

/** The owners that made requests recently. */
export interface ActiveOwners {
  note(owner: string): void
  names(): Iterable<string>
  count(): number
  /** Entities of these owners. */
  entities(): Iterable<string>
  countEntities(): number
}

export function createActiveOwners(): ActiveOwners {
  /** The most recently active owner is the last key. */
  const owners = new Map<string, number>()
  const entities = new Map<string, number>()
  return {
    note(owner) {
      // Work of the server itself has no owner, and slows no other work down.
      if (owner === '') return
      noteIn(owners, owner)
      noteIn(entities, entityOf(owner))
    },
    names: () => activeIn(owners).keys(),
    count: () => activeIn(owners).size,
    entities: () => activeIn(entities).keys(),
    countEntities: () => activeIn(entities).size,
  }
}

function noteIn(asked: Map<string, number>, name: string): void {
  asked.delete(name)
  asked.set(name, performance.now())
}

/** Removes those that are not active any more. */
function activeIn(asked: Map<string, number>): ReadonlyMap<string, number> {
  for (const [name, at] of asked) {
    if (performance.now() - at < ACTIVE_MS) break
    asked.delete(name)
  }
  return asked
}
