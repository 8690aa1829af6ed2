import { STOP_SIGNALS } from '../src/stop-signals.ts'

/**
 * Aborts a signal when the process is asked to end, so that it cleans up first, until disposal.
 * @param reason the message of the error
 */
export function onInterrupt(reason: string): Disposable & { signal: AbortSignal } {
  const stopping = new AbortController()
  const stop = (): void => stopping.abort(new Error(reason))
  // Not only the first: Ctrl-C comes from the terminal and again from npm.
  for (const name of STOP_SIGNALS) process.on(name, stop)
  return {
    signal: stopping.signal,
    [Symbol.dispose]() {
      for (const name of STOP_SIGNALS) process.off(name, stop)
    },
  }
}
