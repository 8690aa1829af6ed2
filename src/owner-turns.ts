import { createOwnerLines, entityOf } from './owner-lines.ts'

/**
 * Does work that waits for its turn: entities take turns, and within each its owners, each in its own order.
 * @param owner `entity/project`; a name without a slash is an entity of its own
 * @param signal ends the wait with its reason
 * @throws the refusal where too much work of the entity waits
 */
export type OwnerTurns = <Result>(
  owner: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

export interface OwnerTurnsOptions {
  places: number
  /** Places that one owner may have at a time: fewer than all leave the others to other owners. */
  ownerPlaces: number
  /** Pieces of work of one entity that wait. */
  waitingMax: number
  /** What is thrown where so many of an entity wait. */
  refusal: (entity: string) => Error
}

export function createOwnerTurns(options: OwnerTurnsOptions): OwnerTurns {
  const { places, ownerPlaces, waitingMax, refusal } = options
  const lines = createOwnerLines<() => void>()
  const held = new Map<string, number>()
  let free = places

  const heldBy = (owner: string): number => held.get(owner) ?? 0
  const mayBegin = (owner: string): boolean => free > 0 && heldBy(owner) < ownerPlaces

  const nextOwner = (): string | undefined => (free > 0 ? lines.owners().find(mayBegin) : undefined)

  function hold(owner: string, change: 1 | -1): void {
    free -= change
    const now = heldBy(owner) + change
    if (now > 0) held.set(owner, now)
    else held.delete(owner)
  }

  function serve(): void {
    for (let owner = nextOwner(); owner !== undefined; owner = nextOwner()) {
      hold(owner, 1)
      lines.take(owner)?.()
    }
  }

  async function turn(owner: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (!mayBegin(owner) && lines.weightOfEntity(owner) >= waitingMax) throw refusal(entityOf(owner))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      lines.remove(owner, resolve)
      reject(signal?.reason)
    }
    lines.add(owner, resolve)
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
