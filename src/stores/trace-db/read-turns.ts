import { unavailable } from '../../errors.ts'

/** Reads that wait their turn; more would wait longer than a client does. */
const WAITING_MAX = 1000

/** What of these one owner may take, so that a flood leaves room for the others. */
const OWNER_WAITING_MAX = 250

/** A read whose turn has not come by then is refused: its client is about to give up. */
const WAIT_MS_MAX = 30_000

interface Waiting<Place> {
  begin: (place: Place) => void
}

/** Takes turns at a number of places. */
export interface ReadTurns<Place> {
  /** The places that nobody has. */
  free(): readonly Place[]
  /**
   * Waits for a place, which is `give`n back.
   * @throws 503 when too many wait, or for too long; the signal's reason.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Place>
  give(owner: string, place: Place): void
}

/**
 * Owners take turns, each in its own order, and none has more places than it leaves free: one alone has half of them, two
 * have a third each. So the first read of an owner waits only where several others have much to read.
 */
export function createReadTurns<Place>(places: readonly Place[]): ReadTurns<Place> {
  const free = [...places]
  /** Places that an owner has. */
  const held = new Map<string, number>()
  /** Who waits has a line that is not empty; the first has the turn. */
  const lines = new Map<string, Waiting<Place>[]>()
  let waitingCount = 0

  const heldBy = (owner: string): number => held.get(owner) ?? 0

  function isFreeFor(owner: string): boolean {
    return free.length > heldBy(owner)
  }

  function placeFor(owner: string): Place | undefined {
    if (!isFreeFor(owner)) return undefined
    held.set(owner, heldBy(owner) + 1)
    return free.pop()
  }

  function serve(): void {
    for (const [owner, line] of [...lines]) {
      const place = placeFor(owner)
      if (place === undefined) continue
      const first = line.shift()
      lines.delete(owner)
      if (line.length > 0) lines.set(owner, line)
      first?.begin(place)
    }
  }

  function leave(owner: string, waiting: Waiting<Place>): void {
    const line = lines.get(owner) ?? []
    line.splice(line.indexOf(waiting), 1)
    if (line.length === 0) lines.delete(owner)
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Place> {
    const line = lines.get(owner) ?? []
    if (waitingCount >= WAITING_MAX) throw unavailable('Too many reads are waiting', 2)
    if (line.length >= OWNER_WAITING_MAX) throw unavailable('Too many reads of this project are waiting', 2)
    return new Promise<Place>((resolve, reject) => {
      const waiting = { begin: resolve }
      const end = (reason: unknown): void => {
        leave(owner, waiting)
        reject(reason)
      }
      const tooLate = (): void => end(unavailable('Reads of this project have waited for too long', 5))
      const gone = (): void => end(signal?.reason)
      const timer = setTimeout(tooLate, WAIT_MS_MAX)
      waiting.begin = (place) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
        resolve(place)
      }
      signal?.addEventListener('abort', gone, { once: true })
      line.push(waiting)
      lines.set(owner, line)
    })
  }

  return {
    free: () => free,

    async take(owner, signal) {
      signal?.throwIfAborted()
      const place = lines.has(owner) ? undefined : placeFor(owner)
      if (place !== undefined) return place
      waitingCount++
      try {
        return await wait(owner, signal)
      } finally {
        waitingCount--
      }
    },

    give(owner, place) {
      free.push(place)
      const left = heldBy(owner) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      serve()
    },
  }
}
