/** What a portion takes: bytes of payloads, and how many things it asks the database for. */
export interface Size {
  bytes: number
  count: number
}

/** Splits items, in their order, into portions of at most `max`; only one that is larger by itself makes a larger portion. */
export function* portions<Item>(
  items: Iterable<Item>,
  max: Size,
  sizeOf: (item: Item) => Size,
): Generator<Item[], void> {
  let portion: Item[] = []
  let taken: Size = { bytes: 0, count: 0 }
  for (const item of items) {
    const { bytes, count } = sizeOf(item)
    const isFull = taken.bytes + bytes > max.bytes || taken.count + count > max.count
    if (portion.length > 0 && isFull) {
      yield portion
      portion = []
      taken = { bytes: 0, count: 0 }
    }
    portion.push(item)
    taken.bytes += bytes
    taken.count += count
  }
  if (portion.length > 0) yield portion
}
