import { createOwnerLines } from './owner-lines.ts'

/**
 * Work of one event-loop iteration: what others wait for while a flood is served. Longer pieces of work are as long as they
 * are, and stand alone in theirs.
 */
const ITERATION_MS = 4

/** Takes turns at the one thread that serves. */
export interface LoopTurns {
  /** Resolves when an owner may do its next piece of work; at once where no other work is waiting. */
  turn(owner: string): Promise<void>
}

/**
 * Requests that are ready together would all be worked on before anything else is looked at. Here only some milliseconds of
 * them are, then what has arrived meanwhile is read and written, and then it is the next owner's turn: who has a hundred
 * requests waits for the others', and the others do not wait for those.
 */
export function createLoopTurns(): LoopTurns {
  const lines = createOwnerLines<() => void>()
  let startedAt: number | undefined
  let isWorking = false

  function serve(): void {
    if (isWorking || lines.weight() === 0) return
    if (startedAt === undefined) {
      startedAt = performance.now()
      setImmediate(nextIteration)
    } else if (performance.now() - startedAt >= ITERATION_MS) return
    isWorking = true
    lines.take()?.()
    // A tick that is asked for by a promise comes when all promises that are ready have been worked on, this turn's with them.
    void Promise.resolve().then(() => process.nextTick(worked))
  }

  function worked(): void {
    isWorking = false
    serve()
  }

  function nextIteration(): void {
    startedAt = undefined
    serve()
  }

  return {
    turn: (owner) =>
      new Promise((resolve) => {
        lines.add(owner, resolve)
        serve()
      }),
  }
}
