/**
 * Work of one event-loop iteration: what others wait for while a flood is served. Longer pieces of work are as long as they
 * are, and stand alone in theirs.
 */
const ITERATION_MS = 4

/** Takes turns at the one thread that serves. */
export interface LoopTurns {
  /** Resolves when an owner may do its next piece of work; at once where nobody else has anything to do. */
  turn(owner: string): Promise<void>
}

/**
 * Requests that are ready together would all be worked on before anything else is looked at. Here only some milliseconds of
 * them are, then what has arrived meanwhile is read and written, and then it is the next owner's turn: who has a hundred
 * requests waits for the others', and the others do not wait for those.
 */
export function createLoopTurns(): LoopTurns {
  /** Who waits has a line that is not empty; the first has the turn. */
  const lines = new Map<string, (() => void)[]>()
  let startedAt: number | undefined
  let isWorking = false

  function takeNext(): (() => void) | undefined {
    for (const [owner, line] of lines) {
      const next = line.shift()
      lines.delete(owner)
      if (line.length > 0) lines.set(owner, line)
      return next
    }
    return undefined
  }

  function serve(): void {
    if (isWorking || lines.size === 0) return
    if (startedAt === undefined) {
      startedAt = performance.now()
      setImmediate(nextIteration)
    } else if (performance.now() - startedAt >= ITERATION_MS) return
    isWorking = true
    takeNext()?.()
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
        const line = lines.get(owner) ?? []
        line.push(resolve)
        lines.set(owner, line)
        serve()
      }),
  }
}
