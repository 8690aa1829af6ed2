import { unavailable } from '../../../errors.ts'
import { createOwnerLines } from '../../../owner-lines.ts'
import { createActiveOwners } from './active-owners.ts'
import { createPacing } from './pacing.ts'

/** Reads that wait; more would wait longer than a client does. */
const WAITING_MAX = 1000

/** The share of these that one owner may use, so that a flood leaves room for others. */
const OWNER_WAITING_MAX = 250

/** A read that waits longer is refused: its client is about to give up. */
const WAIT_MS_MAX = 30_000

interface Waiting<Place> {
  begin: (taken: Taken<Place>) => void
}

export interface Taken<Place> {
  place: Place
  /** Number of threads for the read. */
  threads: 'all' | 'one'
}

/** Shares a number of read slots fairly. */
export interface ReadTurns<Place> {
  /** The free slots. */
  free(): readonly Place[]
  /**
   * Waits for a slot, to be released with `give`.
   * @throws 503 when too many wait, or for too long; the signal's reason.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Taken<Place>>
  give(owner: string, place: Place): void
}

/**
 * Owners take turns, each in its own order, and none has more slots than it leaves free: one alone has half of them. So
 * the first read of an owner waits only where several others read a lot. While others are active, no owner has more
 * than its share of the processors either, since concurrent reads slow each other down. For the same reason only one
 * read of an owner uses all threads, and none of an owner with more waiting while others are active; such an owner also
 * pauses between its reads.
 */
export function createReadTurns<Place>(places: readonly Place[], processors: number): ReadTurns<Place> {
  const free = [...places]
  /** Slots in use by an owner. */
  const held = new Map<string, number>()
  const lines = createOwnerLines<Waiting<Place>>()
  const active = createActiveOwners()
  const pacing = createPacing(serve)
  const takenAt = new Map<Place, number>()

  const heldBy = (owner: string): number => held.get(owner) ?? 0

  function isFreeFor(owner: string): boolean {
    if (pacing.isPaused(owner)) return false
    const owners = active.count()
    const share = owners > 1 ? Math.max(1, Math.floor(processors / owners)) : places.length
    return free.length > heldBy(owner) && heldBy(owner) < share
  }

  function placeFor(owner: string): Taken<Place> | undefined {
    if (!isFreeFor(owner)) return undefined
    const place = free.pop()
    if (place === undefined) return undefined
    takenAt.set(place, performance.now())
    const before = heldBy(owner)
    held.set(owner, before + 1)
    const isFlood = lines.weight(owner) > 0 && active.count() > 1
    return { place, threads: before > 0 || isFlood ? 'one' : 'all' }
  }

  function serve(): void {
    for (const owner of lines.owners()) {
      const taken = placeFor(owner)
      if (taken !== undefined) lines.take(owner)?.begin(taken)
    }
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Taken<Place>> {
    // Including this one.
    if (lines.weight() + 1 >= WAITING_MAX) throw unavailable('Too many reads are waiting', 2)
    if (lines.weight(owner) >= OWNER_WAITING_MAX)
      throw unavailable('Too many reads of this project are waiting', 2)
    return new Promise<Taken<Place>>((resolve, reject) => {
      function stopWaiting(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
      }
      const waiting: Waiting<Place> = {
        begin(taken) {
          stopWaiting()
          resolve(taken)
        },
      }
      const end = (reason: unknown): void => {
        stopWaiting()
        lines.remove(owner, waiting)
        reject(reason)
      }
      const tooLate = (): void => end(unavailable('Reads of this project have waited for too long', 5))
      const gone = (): void => end(signal?.reason)
      const timer = setTimeout(tooLate, WAIT_MS_MAX)
      signal?.addEventListener('abort', gone, { once: true })
      lines.add(owner, waiting)
    })
  }

  return {
    free: () => free,

    async take(owner, signal) {
      signal?.throwIfAborted()
      active.note(owner)
      const taken = lines.weight(owner) > 0 ? undefined : placeFor(owner)
      return taken ?? wait(owner, signal)
    },

    give(owner, place) {
      free.push(place)
      const left = heldBy(owner) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      const workMs = performance.now() - (takenAt.get(place) ?? 0)
      if (active.count() > 1 && lines.weight(owner) > 0) pacing.pause(owner, workMs)
      serve()
    },
  }
}
