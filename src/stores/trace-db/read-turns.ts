import { unavailable } from '../../errors.ts'
import { createOwnerLines } from '../../owner-lines.ts'
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
  /** The places that are not taken. */
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
  const lines = createOwnerLines<Waiting<Place>>()
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
    // With this one.
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
      serve()
    },
  }
}
