import { entityOf } from '../../../owner-lines.ts'
import type { ActiveOwners } from './active-owners.ts'

/** Who has how many of a number of slots. */
export interface Slots<Place> {
  free(): readonly Place[]
  heldBy(owner: string): number
  /** Takes a slot, if the owner and its entity may have one more. */
  take(owner: string): Place | undefined
  give(owner: string, place: Place): void
}

/**
 * None has more slots than it leaves free: an owner alone has half of them. While others are active, no owner has more
 * than its share of the processors either. This holds for an entity beside others as well, however many owners it has;
 * an entity alone leaves one slot free.
 */
export function createSlots<Place>(
  places: readonly Place[],
  processors: number,
  active: Pick<ActiveOwners, 'count' | 'countEntities'>,
): Slots<Place> {
  const free = [...places]
  const byOwner = new Map<string, number>()
  const byEntity = new Map<string, number>()

  const heldBy = (owner: string): number => byOwner.get(owner) ?? 0

  /** The share of one of several that are active. */
  const shareOf = (several: number): number => Math.max(1, Math.floor(processors / several))

  function mayTake(owner: string): boolean {
    const [owners, entities] = [active.count(), active.countEntities()]
    const ownerMax = owners > 1 ? shareOf(owners) : places.length
    const entityMax = entities > 1 ? shareOf(entities) : Math.max(1, places.length - 1)
    const ofEntity = byEntity.get(entityOf(owner)) ?? 0
    return free.length > heldBy(owner) && heldBy(owner) < ownerMax && ofEntity < entityMax
  }

  return {
    free: () => free,
    heldBy,
    take(owner) {
      const place = mayTake(owner) ? free.pop() : undefined
      if (place === undefined) return undefined
      addTo(byOwner, owner, 1)
      addTo(byEntity, entityOf(owner), 1)
      return place
    },
    give(owner, place) {
      free.push(place)
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
