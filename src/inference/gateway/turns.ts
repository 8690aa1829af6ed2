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
  /** Up to the total. */
  places: number
}

/** How busy an engine is: answers in progress, their limit, and waiting requests. */
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

    async take({ group, places }, signal) {
      signal.throwIfAborted()
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
