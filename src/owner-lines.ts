/**
 * A fair queue: owners take turns, each in its own order, so an owner with a thousand items does not delay the first
 * item of another.
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
}

interface Line<Item> {
  waiting: { item: Item; weight: number }[]
  weight: number
}

export function createOwnerLines<Item>(): OwnerLines<Item> {
  // None is empty; the first has the turn.
  const lines = new Map<string, Line<Item>>()
  let total = 0

  const firstOwner = (): string | undefined => lines.keys().next().value

  /** Removes an item of an owner, and the owner with its last one. */
  function removeAt(owner: string, line: Line<Item>, index: number): Item | undefined {
    const [removed] = line.waiting.splice(index, 1)
    line.weight -= removed?.weight ?? 0
    total -= removed?.weight ?? 0
    if (line.waiting.length === 0) lines.delete(owner)
    return removed?.item
  }

  return {
    add(owner, item, weight = 1) {
      const line = lines.get(owner) ?? { waiting: [], weight: 0 }
      line.waiting.push({ item, weight })
      line.weight += weight
      total += weight
      lines.set(owner, line)
    },

    remove(owner, item) {
      const line = lines.get(owner)
      const index = line?.waiting.findIndex((one) => one.item === item) ?? -1
      if (line !== undefined && index !== -1) removeAt(owner, line, index)
    },

    owners: () => [...lines.keys()],

    first: () => lines.get(firstOwner() ?? '')?.waiting[0]?.item,

    take(owner = firstOwner()) {
      const line = owner === undefined ? undefined : lines.get(owner)
      if (owner === undefined || line === undefined) return undefined
      lines.delete(owner)
      lines.set(owner, line)
      return removeAt(owner, line, 0)
    },

    weight: (owner) => (owner === undefined ? total : (lines.get(owner)?.weight ?? 0)),
  }
}
