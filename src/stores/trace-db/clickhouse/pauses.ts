/** A pause is no longer than this, however long the work before it took. */
const PAUSE_MS_MAX = 750

/** Pauses of owners and entities, for all kinds of their work: a flood of reads and writes pauses in both. */
export interface Pauses {
  /** Pauses for some milliseconds from now; a longer pause in force stays. */
  add(name: string, ms: number): void
  isPaused(name: string): boolean
  /** Calls back when a pause is over. */
  onEnd(listener: () => void): void
}

export function createPauses(): Pauses {
  const paused = new Map<string, { until: number; timer: NodeJS.Timeout }>()
  const listeners: (() => void)[] = []

  function end(name: string): void {
    paused.delete(name)
    for (const listener of listeners) listener()
  }

  return {
    add(name, ms) {
      const now = performance.now()
      const known = paused.get(name)
      clearTimeout(known?.timer)
      const until = Math.max(known?.until ?? 0, now + Math.min(ms, PAUSE_MS_MAX))
      paused.set(name, { until, timer: setTimeout(() => end(name), until - now) })
    },
    isPaused: (name) => paused.has(name),
    onEnd(listener) {
      listeners.push(listener)
    },
  }
}
