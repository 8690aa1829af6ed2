import { unavailable } from './errors.ts'
import { createOwnerLines } from './owner-lines.ts'

/**
 * Does work that waits for its turn: entities take turns, and within each its owners, each in its own order. An owner has one place
 * at a time, which leaves the others to other owners.
 * @param owner `entity/project`; a name without a slash is an entity of its own
 * @throws 503 where too much work of the entity waits
 */
export type OwnerTurns = <Result>(owner: string, work: () => Promise<Result>) => Promise<Result>

/** @param options.waitingMax pieces of work of one entity */
export function createOwnerTurns({ places, waitingMax }: { places: number; waitingMax: number }): OwnerTurns {
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

  return async (owner, work) => {
    if (lines.weightOfEntity(owner) >= waitingMax)
      throw unavailable(`${waitingMax} pieces of such work are waiting already`)
    const turn = Promise.withResolvers<void>()
    lines.add(owner, turn.resolve)
    serve()
    await turn.promise
    try {
      return await work()
    } finally {
      working.delete(owner)
      serve()
    }
  }
}
