/** Notifies waiters of a change; each checks for itself what has changed. */
export interface Bell {
  ring(): void
  /** Resolves with the next ring, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  const waiting = new Set<() => void>()
  return {
    ring() {
      for (const wake of waiting) wake()
    },
    next(signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = (): void => {
          // The next ring may be an hour away, so a waiter that is woken or aborted removes all its listeners.
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    },
  }
}
