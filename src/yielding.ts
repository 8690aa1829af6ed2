import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work before other requests run; a longer piece of work runs alone. */
export const WORK_MS_MAX = 10

/** Does one piece of work after the other, and lets other requests run whenever that took {@link WORK_MS_MAX}. */
export async function forEachYielding<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
): Promise<void> {
  for await (const item of yielding(items)) work(item)
}

/** The items; other requests run whenever the work on some of them took {@link WORK_MS_MAX}. */
export async function* yielding<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  let turnedAt = performance.now()
  for await (const item of items) {
    yield item
    if (performance.now() - turnedAt < WORK_MS_MAX) continue
    await setImmediate()
    turnedAt = performance.now()
  }
}
