import { roundRobin } from './round-robin.ts'

/**
 * A fair queue: entities take turns, and within each its owners, each in its own order. An owner with a thousand items
 * does not delay the first item of another, and an entity with a hundred owners has no more turns than one with one.
 * Owners are named `entity/project`; a name without a slash is an entity of its own.
 */
export interface FairQueue<Item> {
  /** Appends an item to its owner's queue. @param weight what it counts in `weight` */
  add(owner: string, item: Item, weight?: number): void
  /** Removes an item that no longer waits. */
  remove(owner: string, item: Item): void
  /** Owners with waiting items, in the order of their turns. */
  owners(): string[]
  /** The next item of the owner whose turn it is; undefined where nothing waits. */
  first(): Item | undefined
  /** Removes the next item of an owner, by default the one whose turn it is; the turn passes to the next owner. */
  take(owner?: string): Item | undefined
  /** The weight of all waiting items, or of an owner's. */
  weight(owner?: string): number
  /** The weight of the waiting items of an owner's entity. */
  weightOfEntity(owner: string): number
}

/** The entity of an owner. */
export function entityOf(owner: string): string {
  const at = owner.indexOf('/')
  return at < 0 ? owner : owner.slice(0, at)
}

interface OwnerQueue<Item> {
  waiting: { item: Item; weight: number }[]
  weight: number
}

export function createFairQueue<Item>(): FairQueue<Item> {
  // By entity and owner. None is empty; the first of each map has the turn.
  const entities = new Map<string, Map<string, OwnerQueue<Item>>>()
  let total = 0

  const queuesOf = (owner: string): Map<string, OwnerQueue<Item>> | undefined => entities.get(entityOf(owner))

  function firstOwner(): string | undefined {
    const queues: Map<string, OwnerQueue<Item>> | undefined = entities.values().next().value
    return queues?.keys().next().value
  }

  /** Removes an item of an owner, the owner with its last one, and its entity with its last owner. */
  function removeAt(owner: string, queue: OwnerQueue<Item>, index: number): Item | undefined {
    const [removed] = queue.waiting.splice(index, 1)
    queue.weight -= removed?.weight ?? 0
    total -= removed?.weight ?? 0
    const queues = queuesOf(owner)
    if (queue.waiting.length === 0) queues?.delete(owner)
    if (queues?.size === 0) entities.delete(entityOf(owner))
    return removed?.item
  }

  function owners(): string[] {
    return roundRobin([...entities.values()].map((queues) => [...queues.keys()]))
  }

  return {
    add(owner, item, weight = 1) {
      const queues = queuesOf(owner) ?? new Map<string, OwnerQueue<Item>>()
      const queue = queues.get(owner) ?? { waiting: [], weight: 0 }
      queue.waiting.push({ item, weight })
      queue.weight += weight
      total += weight
      queues.set(owner, queue)
      entities.set(entityOf(owner), queues)
    },

    remove(owner, item) {
      const queue = queuesOf(owner)?.get(owner)
      const index = queue?.waiting.findIndex((one) => one.item === item) ?? -1
      if (queue !== undefined && index !== -1) removeAt(owner, queue, index)
    },

    owners,

    first: () => {
      const owner = firstOwner()
      return owner === undefined ? undefined : queuesOf(owner)?.get(owner)?.waiting[0]?.item
    },

    take(owner = firstOwner()) {
      const queues = owner === undefined ? undefined : queuesOf(owner)
      const queue = owner === undefined ? undefined : queues?.get(owner)
      if (owner === undefined || queues === undefined || queue === undefined) return undefined
      moveToEnd(queues, owner, queue)
      moveToEnd(entities, entityOf(owner), queues)
      return removeAt(owner, queue, 0)
    },

    weight: (owner) => (owner === undefined ? total : (queuesOf(owner)?.get(owner)?.weight ?? 0)),

    weightOfEntity(owner) {
      let weight = 0
      for (const queue of queuesOf(owner)?.values() ?? []) weight += queue.weight
      return weight
    },
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
}
