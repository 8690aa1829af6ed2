/** Wakes those who wait for a change; each looks for himself what has changed. */
export interface Bell {
  ring(): void
  /** Resolves with the next ring, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let waiting: (() => void)[] = []
  return {
    ring() {
      for (const wake of waiting) wake()
      waiting = []
    },
    next(signal) {
      return new Promise((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.push(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    },
  }
}
