import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work before other requests run; a longer piece of work runs alone. */
export const TURN_MS = 10

/** Does one piece of work after the other, and lets other requests run whenever that took {@link TURN_MS}. */
export async function inTurns<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  for await (const item of withTurns(items)) work(item)
}

/** The items; other requests run whenever the work on some of them took {@link TURN_MS}. */
export async function* withTurns<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  let turnedAt = performance.now()
  for await (const item of items) {
    yield item
    if (performance.now() - turnedAt < TURN_MS) continue
    await setImmediate()
    turnedAt = performance.now()
  }
}
