/** Notifies waiters of a change; each checks for itself what has changed. */
export interface Notifier {
  notify(): void
  /** Resolves with the next `notify`, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>
}

export function createNotifier(): Notifier {
  const waiting = new Set<() => void>()
  return {
    notify() {
      for (const wake of waiting) wake()
    },
    next(signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = (): void => {
          // The next `notify` may be an hour away, so a waiter that is woken or aborted removes all its listeners.
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
