import { unavailable } from '../../../errors.ts'
import { createOwnerLines } from '../../../owner-lines.ts'
import { createActiveOwners } from './active-owners.ts'
import { createPacing } from './pacing.ts'
import { createPauses, type Pauses } from './pauses.ts'
import { createSlots } from './slots.ts'

/** Reads that wait; more would wait longer than a client does. */
const WAITING_MAX = 1000

/** The share of these that one owner may use, so that a flood leaves room for others. */
const OWNER_WAITING_MAX = 250

/** The share that one entity may use with all of its projects. */
const ENTITY_WAITING_MAX = 750

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
 * Entities take turns, within them their owners, and each has a share of the slots (`slots.ts`). So the first read of an
 * owner waits only where several others read a lot. Concurrent reads slow each other down, so only one read of an owner
 * uses all threads, and none of an owner with more waiting while others are active; such an owner also pauses between
 * its reads.
 */
export function createReadTurns<Place>(
  places: readonly Place[],
  processors: number,
  pauses: Pauses = createPauses(),
): ReadTurns<Place> {
  const lines = createOwnerLines<Waiting<Place>>()
  const active = createActiveOwners()
  const slots = createSlots(places, processors, active)
  const pacing = createPacing({ lines, active, pauses, onEnd: serve })
  const takenAt = new Map<Place, number>()

  function placeFor(owner: string): Taken<Place> | undefined {
    const before = slots.heldBy(owner)
    const place = pacing.isPaused(owner) ? undefined : slots.take(owner)
    if (place === undefined) return undefined
    takenAt.set(place, performance.now())
    return { place, threads: before > 0 || pacing.isFlood(owner) ? 'one' : 'all' }
  }

  /** Gives owners that wait one place each in turn, until no more is free for any of them. */
  function serve(): void {
    let places: number
    do {
      places = 0
      for (const owner of lines.owners()) {
        const taken = placeFor(owner)
        if (taken === undefined) continue
        lines.take(owner)?.begin(taken)
        places++
      }
    } while (places > 0)
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Taken<Place>> {
    if (lines.weight() >= WAITING_MAX) throw unavailable('Too many reads are waiting', 2)
    if (lines.weight(owner) >= OWNER_WAITING_MAX)
      throw unavailable('Too many reads of this project are waiting', 2)
    if (lines.weightOfEntity(owner) >= ENTITY_WAITING_MAX)
      throw unavailable('Too many reads of this entity are waiting', 2)
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
    free: slots.free,

    async take(owner, signal) {
      signal?.throwIfAborted()
      active.note(owner)
      const taken = lines.weight(owner) > 0 ? undefined : placeFor(owner)
      return taken ?? wait(owner, signal)
    },

    give(owner, place) {
      slots.give(owner, place)
      pacing.worked(owner, performance.now() - (takenAt.get(place) ?? 0))
      serve()
    },
  }
}
