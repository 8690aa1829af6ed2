import { createOwnerLines } from '../../owner-lines.ts'

/** Takes turns between those who wait. */
export interface Turns {
  /** Waits for places; the function it returns gives them back. @throws the signal's reason. */
  take(wanted: Wanted, signal: AbortSignal): Promise<() => void>
  load(): EngineLoad
}

export interface Wanted {
  /** Whom the places are for. */
  group: string
  /** Up to all there are. */
  places: number
}

/** How busy an engine is: answers that it has, that it may have, and requests that wait for it. */
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
 * At most `total` places at once; when some become free, the groups that wait are served in rotation, each in its own
 * order: a group with a thousand requests does not hold up another's first. Who needs many places is waited for, or it
 * would never have its turn.
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
