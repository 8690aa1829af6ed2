/**
 * The most slots that an entity may hold for each free one. One active entity gets four fifths of all slots, two get
 * four ninths each; however many are active, some slots stay free for an entity that holds none.
 */
const HELD_PER_FREE = 4

/** Whether an entity that holds `held` of the `taken` slots may take another. */
export function mayTake({ held, taken, max }: { held: number; taken: number; max: number }): boolean {
  return held < HELD_PER_FREE * (max - taken)
}

/** Slots that entities share. */
export interface SharedSlots {
  /** Of all entities. */
  taken(): number
  heldBy(entity: string): number
  /** Takes a slot until the returned function is called; undefined where the entity may have no more. */
  take(entity: string): (() => void) | undefined
}

/** Slots in memory. */
export function createSharedSlots(max: number): SharedSlots {
  const held = new Map<string, number>()
  let taken = 0
  const heldBy = (entity: string): number => held.get(entity) ?? 0

  function add(entity: string, change: 1 | -1): void {
    taken += change
    const count = heldBy(entity) + change
    if (count === 0) held.delete(entity)
    else held.set(entity, count)
  }

  return {
    taken: () => taken,
    heldBy,
    take(entity) {
      if (!mayTake({ held: heldBy(entity), taken, max })) return undefined
      add(entity, 1)
      return () => add(entity, -1)
    },
  }
}
