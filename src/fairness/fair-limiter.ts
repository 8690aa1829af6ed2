import { createFairQueue, entityOf } from './fair-queue.ts'

/**
 * Does work that waits for its turn: entities take turns, and within each its owners, each in its own order.
 * @param owner `entity/project`; a name without a slash is an entity of its own
 * @param signal ends the wait with its reason
 * @throws the refusal where too much work of the entity waits
 */
export type FairLimiter = <Result>(
  owner: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

export interface FairLimiterOptions {
  slots: number
  /** Slots that one owner may have at a time: fewer than all leave the others to other owners. */
  ownerSlots: number
  /** Pieces of work of one entity that wait. */
  waitingMax: number
  /** What is thrown where so many of an entity wait. */
  refusal: (entity: string) => Error
}

export function createFairLimiter(options: FairLimiterOptions): FairLimiter {
  const { slots, ownerSlots, waitingMax, refusal } = options
  const queue = createFairQueue<() => void>()
  const held = new Map<string, number>()
  let free = slots

  const heldBy = (owner: string): number => held.get(owner) ?? 0
  const mayBegin = (owner: string): boolean => free > 0 && heldBy(owner) < ownerSlots

  const nextOwner = (): string | undefined => (free > 0 ? queue.owners().find(mayBegin) : undefined)

  function hold(owner: string, change: 1 | -1): void {
    free -= change
    const now = heldBy(owner) + change
    if (now > 0) held.set(owner, now)
    else held.delete(owner)
  }

  function serve(): void {
    for (let owner = nextOwner(); owner !== undefined; owner = nextOwner()) {
      hold(owner, 1)
      queue.take(owner)?.()
    }
  }

  async function turn(owner: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (!mayBegin(owner) && queue.weightOfEntity(owner) >= waitingMax) throw refusal(entityOf(owner))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      queue.remove(owner, resolve)
      reject(signal?.reason)
    }
    queue.add(owner, resolve)
    signal?.addEventListener('abort', leave)
    serve()
    await promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  return async (owner, work, signal) => {
    await turn(owner, signal)
    try {
      return await work()
    } finally {
      hold(owner, -1)
      serve()
    }
  }
}
