import { createFairQueue } from './fair-queue.ts'

/**
 * Milliseconds of work per event-loop iteration while requests queue: an upper bound on what others wait for. A longer
 * piece of work runs alone in its iteration.
 */
const ITERATION_MS = 4

/** Shares the event loop fairly between owners. */
export interface EventLoopTurns {
  /** Resolves when the owner may run its next piece of work; at once where no other work waits. */
  turn(owner: string): Promise<void>
}

/**
 * Without this, all requests that are ready would be processed before the loop reads or writes anything else. Here some
 * milliseconds of work run per iteration, then pending I/O, then the next owner's work: an owner with a hundred
 * requests waits for the others, and the others do not wait for all of these.
 */
export function createEventLoopTurns(): EventLoopTurns {
  const queue = createFairQueue<() => void>()
  let startedAt: number | undefined
  let isWorking = false

  function serve(): void {
    if (isWorking || queue.weight() === 0) return
    if (startedAt === undefined) {
      startedAt = performance.now()
      setImmediate(nextIteration)
    } else if (performance.now() - startedAt >= ITERATION_MS) return
    isWorking = true
    queue.take()?.()
    // A tick scheduled from a promise runs after all ready promises, those of this turn included.
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
        queue.add(owner, resolve)
        serve()
      }),
  }
}
