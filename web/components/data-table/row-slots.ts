/** An element for a row: which row it shows changes, its key does not. */
export interface RowSlot {
  key: number
  index: number
}

/**
 * Gives the elements of rows that are no longer wanted to rows that now are: drawing another text in an element costs
 * far less than removing one and making the next. Elements keep their order, whatever they show, because moving one
 * costs as much as making it.
 */
export function reuseSlots(slots: readonly RowSlot[], wanted: readonly number[]): RowSlot[] {
  const missing = new Set(wanted)
  const isKept = slots.map(({ index }) => missing.delete(index))
  const news = missing.values()
  const reused = slots.flatMap((slot, at) => {
    if (isKept[at]) return [slot]
    const next = news.next()
    return next.done ? [] : [{ key: slot.key, index: next.value }]
  })
  const firstKey = Math.max(-1, ...slots.map(({ key }) => key)) + 1
  return [...reused, ...[...news].map((index, at) => ({ key: firstKey + at, index }))]
}

/** In the order of the rows, as readers and tools go through them. */
export function inRowOrder(slots: readonly RowSlot[]): RowSlot[] {
  return slots.toSorted((a, b) => a.index - b.index)
}
