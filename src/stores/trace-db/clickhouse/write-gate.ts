/** Writes that were held for some time. */
export interface Hold extends Disposable {
  /** False once the hold was released, or its time was over. */
  isHeld(): boolean
}

/** What all writes pass through, so that they can be held for a moment. */
export interface WriteGate {
  /** Runs a write, after the hold in force has ended. */
  pass<Result>(write: () => Promise<Result>): Promise<Result>
  /**
   * Holds new writes; resolves when none is in progress. Writes that come meanwhile wait. The hold ends by itself after
   * `msMax`.
   * @throws Error when the writes in progress take that long, or when a hold is in force
   */
  hold(msMax: number): Promise<Hold>
}

export function createWriteGate(): WriteGate {
  const writing = new Set<Promise<unknown>>()
  let held: { ended: Promise<void>; end: () => void } | undefined

  async function pass<Result>(write: () => Promise<Result>): Promise<Result> {
    while (held !== undefined) await held.ended
    const writes = write()
    writing.add(writes)
    try {
      return await writes
    } finally {
      writing.delete(writes)
    }
  }

  async function hold(msMax: number): Promise<Hold> {
    if (held !== undefined) throw new Error('Writes are held already')
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(end, msMax)
    const own = { ended, end }
    held = own
    function end(): void {
      clearTimeout(timer)
      if (held === own) held = undefined
      resolve()
    }
    await Promise.race([ended, Promise.allSettled(writing)])
    if (held !== own) throw new Error(`The writes in progress took longer than ${msMax} ms`)
    return { isHeld: () => held === own, [Symbol.dispose]: end }
  }

  return { pass, hold }
}
