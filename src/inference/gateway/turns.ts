import { createOwnerLines } from '../../owner-lines.ts'

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
  places: number
}

/** How busy an engine is: slots in use, their limit, and waiting requests. */
export interface EngineLoad {
  answers: number
  answers_max: number
  waiting: number
}

interface Waiting {
  places: number
  start: () => void
}

/**
 * Of all slots, what one request waits for and holds. While it waits no other begins, until the quickest of the answers in progress have
 * left so many slots; for all of them it would be until the longest has ended. The engine queues what it has beyond that.
 */
const SHARE_MAX = 1 / 4

/**
 * At most `total` slots at once. When some become free, the waiting groups are served in rotation, each in its own
 * order, so a group with a thousand requests does not delay the first of another. The next request keeps its turn until
 * all slots it needs are free; otherwise a large one would starve.
 */
export function createTurns(total: number): Turns {
  let free = total
  const lines = createOwnerLines<Waiting>()

  function serve(): void {
    for (let next = lines.first(); next !== undefined && next.places <= free; next = lines.first()) {
      lines.take()
      next.start()
    }
  }

  function held(places: number): () => void {
    free -= places
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      free += places
      serve()
    }
  }

  return {
    load: () => ({
      answers: total - free,
      answers_max: total,
      waiting: lines.weight(),
    }),

    async take({ group, places: wanted }, signal) {
      signal.throwIfAborted()
      const places = Math.min(wanted, Math.ceil(total * SHARE_MAX))
      if (lines.weight() === 0 && places <= free) return held(places)
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          places,
          start() {
            signal.removeEventListener('abort', leave)
            resolve(held(places))
          },
        }
        function leave(): void {
          lines.remove(group, waiting)
          reject(signal.reason)
          serve()
        }
        lines.add(group, waiting)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
