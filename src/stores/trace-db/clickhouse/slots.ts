import { entityOf } from '../../../fairness/fair-queue.ts'
import type { ActiveOwners } from './active-owners.ts'

/** Who has how many of a number of slots. */
export interface Slots<Slot> {
  free(): readonly Slot[]
  heldBy(owner: string): number
  /** Takes a slot, if the owner and its entity may have one more. */
  take(owner: string): Slot | undefined
  give(owner: string, slot: Slot): void
}

/**
 * None has more slots than it leaves free: an owner alone has half of them. While others are active, no owner has more
 * than its share of the processors either. This holds for an entity beside others as well, however many owners it has;
 * an entity alone leaves one slot free.
 */
export function createSlots<Slot>(
  all: readonly Slot[],
  processors: number,
  active: Pick<ActiveOwners, 'count' | 'countEntities'>,
): Slots<Slot> {
  const free = [...all]
  const byOwner = new Map<string, number>()
  const byEntity = new Map<string, number>()

  const heldBy = (owner: string): number => byOwner.get(owner) ?? 0

  /** The share of one of several that are active. */
  const shareOf = (several: number): number => Math.max(1, Math.floor(processors / several))

  function mayTake(owner: string): boolean {
    const [owners, entities] = [active.count(), active.countEntities()]
    const ownerMax = owners > 1 ? shareOf(owners) : all.length
    const entityMax = entities > 1 ? shareOf(entities) : Math.max(1, all.length - 1)
    const ofEntity = byEntity.get(entityOf(owner)) ?? 0
    return free.length > heldBy(owner) && heldBy(owner) < ownerMax && ofEntity < entityMax
  }

  return {
    free: () => free,
    heldBy,
    take(owner) {
      const slot = mayTake(owner) ? free.pop() : undefined
      if (slot === undefined) return undefined
      addTo(byOwner, owner, 1)
      addTo(byEntity, entityOf(owner), 1)
      return slot
    },
    give(owner, slot) {
      free.push(slot)
      addTo(byOwner, owner, -1)
      addTo(byEntity, entityOf(owner), -1)
    },
  }
}

/** Counts, and forgets what has come to nothing. */
function addTo(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
