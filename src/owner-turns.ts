import { tooManyRequests } from './errors.ts'
import { createOwnerLines, entityOf } from './owner-lines.ts'

/**
 * Does work that waits for its turn: entities take turns, and within each its owners, each in its own order. An owner has one place
 * at a time, which leaves the others to other owners.
 * @param owner `entity/project`; a name without a slash is an entity of its own
 * @param signal ends the wait with its reason
 * @throws 429 where too much work of the entity waits
 */
export type OwnerTurns = <Result>(
  owner: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

export interface OwnerTurnsOptions {
  places: number
  /** Pieces of work of one entity that wait. */
  waitingMax: number
  /** What the work is called in a refusal, such as `collects`. */
  called: string
}

/** Seconds after which work that was refused may have room. */
const RETRY_SECONDS = 10

export function createOwnerTurns({ places, waitingMax, called }: OwnerTurnsOptions): OwnerTurns {
  const lines = createOwnerLines<() => void>()
  const working = new Set<string>()

  function serve(): void {
    for (const owner of lines.owners()) {
      if (working.size === places) return
      if (working.has(owner)) continue
      working.add(owner)
      lines.take(owner)?.()
    }
  }

  async function turn(owner: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const mustWait = working.size === places || working.has(owner)
    if (mustWait && lines.weightOfEntity(owner) >= waitingMax)
      throw tooManyRequests(
        `${waitingMax} ${called} of ${entityOf(owner)} are waiting already`,
        RETRY_SECONDS,
      )
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
      working.delete(owner)
      serve()
    }
  }
}
