import { roundRobin } from './round-robin.ts'

/**
 * A fair queue: entities take turns, and within each its owners, each in its own order. An owner with a thousand items
 * does not delay the first item of another, and an entity with a hundred owners has no more turns than one with one.
 * Owners are named `entity/project`; a name without a slash is an entity of its own.
 */
export interface OwnerLines<Item> {
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

interface Line<Item> {
  waiting: { item: Item; weight: number }[]
  weight: number
}

export function createOwnerLines<Item>(): OwnerLines<Item> {
  // By entity and owner. None is empty; the first of each map has the turn.
  const entities = new Map<string, Map<string, Line<Item>>>()
  let total = 0

  const linesOf = (owner: string): Map<string, Line<Item>> | undefined => entities.get(entityOf(owner))

  function firstOwner(): string | undefined {
    const lines: Map<string, Line<Item>> | undefined = entities.values().next().value
    return lines?.keys().next().value
  }

  /** Removes an item of an owner, the owner with its last one, and its entity with its last owner. */
  function removeAt(owner: string, line: Line<Item>, index: number): Item | undefined {
    const [removed] = line.waiting.splice(index, 1)
    line.weight -= removed?.weight ?? 0
    total -= removed?.weight ?? 0
    const lines = linesOf(owner)
    if (line.waiting.length === 0) lines?.delete(owner)
    if (lines?.size === 0) entities.delete(entityOf(owner))
    return removed?.item
  }

  function owners(): string[] {
    return roundRobin([...entities.values()].map((lines) => [...lines.keys()]))
  }

  return {
    add(owner, item, weight = 1) {
      const lines = linesOf(owner) ?? new Map<string, Line<Item>>()
      const line = lines.get(owner) ?? { waiting: [], weight: 0 }
      line.waiting.push({ item, weight })
      line.weight += weight
      total += weight
      lines.set(owner, line)
      entities.set(entityOf(owner), lines)
    },

    remove(owner, item) {
      const line = linesOf(owner)?.get(owner)
      const index = line?.waiting.findIndex((one) => one.item === item) ?? -1
      if (line !== undefined && index !== -1) removeAt(owner, line, index)
    },

    owners,

    first: () => {
      const owner = firstOwner()
      return owner === undefined ? undefined : linesOf(owner)?.get(owner)?.waiting[0]?.item
    },

    take(owner = firstOwner()) {
      const lines = owner === undefined ? undefined : linesOf(owner)
      const line = owner === undefined ? undefined : lines?.get(owner)
      if (owner === undefined || lines === undefined || line === undefined) return undefined
      moveToEnd(lines, owner, line)
      moveToEnd(entities, entityOf(owner), lines)
      return removeAt(owner, line, 0)
    },

    weight: (owner) => (owner === undefined ? total : (linesOf(owner)?.get(owner)?.weight ?? 0)),

    weightOfEntity(owner) {
      let weight = 0
      for (const line of linesOf(owner)?.values() ?? []) weight += line.weight
      return weight
    },
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
}
