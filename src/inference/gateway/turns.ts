import { createFairQueue } from '../../fairness/fair-queue.ts'

/** Shares slots fairly. */
export interface Turns {
  /** Waits for slots; the returned function releases them. @throws the signal's reason. */
  take(wanted: Wanted, signal: AbortSignal): Promise<() => void>
  load(): EngineLoad
}

export interface Wanted {
  /** The owner of the slots. */
  group: string
  /** Any number, of which it gets a share at most: {@link SHARE_MAX}. */
  slots: number
}

/** How busy an engine is: slots in use, their limit, and waiting requests. */
export interface EngineLoad {
  answers: number
  answers_max: number
  waiting: number
}

interface Waiting {
  slots: number
  start: () => void
}

/**
 * Of all slots, what one request waits for and holds. While it waits no other begins, until the quickest of the answers
 * in progress have left so many slots; for all of them it would be until the longest has ended. The engine queues what
 * it has beyond that.
 */
const SHARE_MAX = 1 / 4

/**
 * At most `total` slots at once. When some become free, the waiting groups are served in rotation, each in its own
 * order, so a group with a thousand requests does not delay the first of another. The next request keeps its turn until
 * all slots it needs are free; otherwise a large one would starve.
 */
export function createTurns(total: number): Turns {
  let free = total
  const queue = createFairQueue<Waiting>()

  function serve(): void {
    for (let next = queue.first(); next !== undefined && next.slots <= free; next = queue.first()) {
      queue.take()
      next.start()
    }
  }

  function held(slots: number): () => void {
    free -= slots
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      free += slots
      serve()
    }
  }

  return {
    load: () => ({
      answers: total - free,
      answers_max: total,
      waiting: queue.weight(),
    }),

    async take({ group, slots: wanted }, signal) {
      signal.throwIfAborted()
      const slots = Math.min(wanted, Math.ceil(total * SHARE_MAX))
      if (queue.weight() === 0 && slots <= free) return held(slots)
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          slots,
          start() {
            signal.removeEventListener('abort', leave)
            resolve(held(slots))
          },
        }
        function leave(): void {
          queue.remove(group, waiting)
          reject(signal.reason)
          serve()
        }
        queue.add(group, waiting)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
