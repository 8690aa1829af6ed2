import { unavailable } from '../../../errors.ts'
import { createFairQueue } from '../../../fairness/fair-queue.ts'
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

interface Waiting<Slot> {
  begin: (taken: Taken<Slot>) => void
}

export interface Taken<Slot> {
  slot: Slot
  /** Number of threads for the read. */
  threads: 'all' | 'one'
}

/** Shares a number of read slots fairly. */
export interface ReadTurns<Slot> {
  /** The free slots. */
  free(): readonly Slot[]
  /**
   * Waits for a slot, to be released with `give`.
   * @throws 503 when too many wait, or for too long; the signal's reason.
   */
  take(owner: string, signal: AbortSignal | undefined): Promise<Taken<Slot>>
  give(owner: string, slot: Slot): void
}

/**
 * Entities take turns, within them their owners, and each has a share of the slots (`slots.ts`). So the first read of
 * an owner waits only where several others read a lot. Concurrent reads slow each other down, so only one read of an
 * owner uses all threads, and none of an owner with more waiting while others are active; such an owner also pauses
 * between its reads.
 */
export function createReadTurns<Slot>(
  all: readonly Slot[],
  processors: number,
  pauses: Pauses = createPauses(),
): ReadTurns<Slot> {
  const queue = createFairQueue<Waiting<Slot>>()
  const active = createActiveOwners()
  const slots = createSlots(all, processors, active)
  const pacing = createPacing({ queue, active, pauses, onEnd: serve })
  const takenAt = new Map<Slot, number>()

  function slotFor(owner: string): Taken<Slot> | undefined {
    const before = slots.heldBy(owner)
    const slot = pacing.isPaused(owner) ? undefined : slots.take(owner)
    if (slot === undefined) return undefined
    takenAt.set(slot, performance.now())
    return { slot, threads: before > 0 || pacing.isFlood(owner) ? 'one' : 'all' }
  }

  /** Gives owners that wait one slot each in turn, until no more is free for any of them. */
  function serve(): void {
    let begun: number
    do {
      begun = 0
      for (const owner of queue.owners()) {
        const taken = slotFor(owner)
        if (taken === undefined) continue
        queue.take(owner)?.begin(taken)
        begun++
      }
    } while (begun > 0)
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Taken<Slot>> {
    if (queue.weight() >= WAITING_MAX) throw unavailable('Too many reads are waiting', 2)
    if (queue.weight(owner) >= OWNER_WAITING_MAX)
      throw unavailable('Too many reads of this project are waiting', 2)
    if (queue.weightOfEntity(owner) >= ENTITY_WAITING_MAX)
      throw unavailable('Too many reads of this entity are waiting', 2)
    return new Promise<Taken<Slot>>((resolve, reject) => {
      function stopWaiting(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
      }
      const waiting: Waiting<Slot> = {
        begin(taken) {
          stopWaiting()
          resolve(taken)
        },
      }
      const end = (reason: unknown): void => {
        stopWaiting()
        queue.remove(owner, waiting)
        reject(reason)
      }
      const tooLate = (): void => end(unavailable('Reads of this project have waited for too long', 5))
      const gone = (): void => end(signal?.reason)
      const timer = setTimeout(tooLate, WAIT_MS_MAX)
      signal?.addEventListener('abort', gone, { once: true })
      queue.add(owner, waiting)
    })
  }

  return {
    free: slots.free,

    async take(owner, signal) {
      signal?.throwIfAborted()
      active.note(owner)
      const taken = queue.weight(owner) > 0 ? undefined : slotFor(owner)
      return taken ?? wait(owner, signal)
    },

    give(owner, slot) {
      slots.give(owner, slot)
      pacing.worked(owner, performance.now() - (takenAt.get(slot) ?? 0))
      serve()
    },
  }
}
