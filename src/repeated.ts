import { setTimeout as delay } from 'node:timers/promises'

/** Runs work again and again, with pauses before each run. Disposal ends the pause, and resolves after a last run. */
export function repeated(pauseMs: number, work: () => Promise<void>): AsyncDisposable {
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
      await work()
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}
