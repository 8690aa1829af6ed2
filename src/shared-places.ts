/**
 * An entity may hold so many places for each that is free: alone four of five, two of them four of nine each. So those of any number
 * leave some free, and who holds none finds one.
 */
const HELD_PER_FREE = 4

/** Whether one who holds some of the places that are taken may take another. */
export function mayTake({ held, taken, max }: { held: number; taken: number; max: number }): boolean {
  return held < HELD_PER_FREE * (max - taken)
}

/** Places that entities share. */
export interface SharedPlaces {
  /** Of all entities. */
  taken(): number
  heldBy(entity: string): number
  /** Takes a place until the returned function is called; undefined where the entity may have no more. */
  take(entity: string): (() => void) | undefined
}

/** Places in memory. */
export function createSharedPlaces(max: number): SharedPlaces {
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
