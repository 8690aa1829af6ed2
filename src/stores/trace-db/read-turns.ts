import { unavailable } from '../../errors.ts'
import { createActiveOwners } from './active-owners.ts'

/** Reads that wait their turn; more would wait longer than a client does. */
const WAITING_MAX = 1000

/** What of these one owner may take, so that a flood leaves room for the others. */
const OWNER_WAITING_MAX = 250

/** A read whose turn has not come by then is refused: its client is about to give up. */
const WAIT_MS_MAX = 30_000

interface Waiting<Place> {
  begin: (taken: Taken<Place>) => void
}

export interface Taken<Place> {
  place: Place
  /** With how many threads one should read there. */
  threads: 'all' | 'one'
}

/** Takes turns at a number of places. */
export interface ReadTurns<Place> {
  /** The places that nobody has. */
  free(): readonly Place[]
  /**
   * Waits for a place, which is `give`n back.
   * @throws 503 when too many wait, or for too long; the signal's reason.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Taken<Place>>
  give(owner: string, place: Place): void
}

/**
 * Owners take turns, each in its own order, and none has more places than it leaves free: one alone has half of them. So the
 * first read of an owner waits only where several others have much to read. As long as others are active, none has more than
 * its share of the processors either, since a read takes as long as all that run beside it let it. For the same reason only
 * one read of an owner has all threads, and none of an owner with more waiting while others are active.
 */
export function createReadTurns<Place>(places: readonly Place[], processors: number): ReadTurns<Place> {
  const free = [...places]
  /** Places that an owner has. */
  const held = new Map<string, number>()
  /** Who waits has a line that is not empty; the first has the turn. */
  const lines = new Map<string, Waiting<Place>[]>()
  let waitingCount = 0
  const active = createActiveOwners()

  const heldBy = (owner: string): number => held.get(owner) ?? 0

  function isFreeFor(owner: string): boolean {
    const owners = active.count()
    const share = owners > 1 ? Math.max(1, Math.floor(processors / owners)) : places.length
    return free.length > heldBy(owner) && heldBy(owner) < share
  }

  function placeFor(owner: string): Taken<Place> | undefined {
    if (!isFreeFor(owner)) return undefined
    const place = free.pop()
    if (place === undefined) return undefined
    const before = heldBy(owner)
    held.set(owner, before + 1)
    const isFlood = lines.has(owner) && active.count() > 1
    return { place, threads: before > 0 || isFlood ? 'one' : 'all' }
  }

  function serve(): void {
    for (const [owner, line] of [...lines]) {
      const taken = placeFor(owner)
      if (taken === undefined) continue
      const first = line.shift()
      lines.delete(owner)
      if (line.length > 0) lines.set(owner, line)
      first?.begin(taken)
    }
  }

  function leave(owner: string, waiting: Waiting<Place>): void {
    const line = lines.get(owner) ?? []
    line.splice(line.indexOf(waiting), 1)
    if (line.length === 0) lines.delete(owner)
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Taken<Place>> {
    const line = lines.get(owner) ?? []
    if (waitingCount >= WAITING_MAX) throw unavailable('Too many reads are waiting', 2)
    if (line.length >= OWNER_WAITING_MAX) throw unavailable('Too many reads of this project are waiting', 2)
    return new Promise<Taken<Place>>((resolve, reject) => {
      const waiting = { begin: resolve }
      const end = (reason: unknown): void => {
        leave(owner, waiting)
        reject(reason)
      }
      const tooLate = (): void => end(unavailable('Reads of this project have waited for too long', 5))
      const gone = (): void => end(signal?.reason)
      const timer = setTimeout(tooLate, WAIT_MS_MAX)
      waiting.begin = (taken) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
        resolve(taken)
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
      active.note(owner)
      const taken = lines.has(owner) ? undefined : placeFor(owner)
      if (taken !== undefined) return taken
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
