import { ClientError } from '../errors.ts'

/** Limits of a batch: bytes of payloads, and number of items in a database query. */
export interface Size {
  bytes: number
  count: number
}

/**
 * Splits items, in their order, into batches of at most `max`; only one that is larger by itself makes a larger batch.
 */
export function* inBatches<Item>(
  items: Iterable<Item>,
  max: Size,
  sizeOf: (item: Item) => Size,
): Generator<Item[], void> {
  let batch: Item[] = []
  let taken: Size = { bytes: 0, count: 0 }
  for (const item of items) {
    const { bytes, count } = sizeOf(item)
    const isFull = taken.bytes + bytes > max.bytes || taken.count + count > max.count
    if (batch.length > 0 && isFull) {
      yield batch
      batch = []
      taken = { bytes: 0, count: 0 }
    }
    batch.push(item)
    taken.bytes += bytes
    taken.count += count
  }
  if (batch.length > 0) yield batch
}

const TOO_LARGE = 413

/**
 * Does work on all items at once, or on halves of them in order where the result would be too large.
 * @throws what the work throws; 413 where one item alone is too large
 */
export async function* inHalves<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result>,
): AsyncGenerator<Result> {
  let result: Result
  try {
    result = await work(items)
  } catch (error) {
    if (items.length < 2 || !(error instanceof ClientError) || error.status !== TOO_LARGE) throw error
    const half = Math.ceil(items.length / 2)
    yield* inHalves(items.slice(0, half), work)
    yield* inHalves(items.slice(half), work)
    return
  }
  yield result
}
