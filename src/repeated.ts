import { setTimeout as delay } from 'node:timers/promises'

type Work = () => Promise<void>

/** Runs work again and again, with a pause before each run. Disposal ends the pause, and resolves after a last run. */
export function repeated(pauseMs: number, work: Work): AsyncDisposable {
  return loop(pauseMs, async (pause) => {
    await pause()
    await work()
  })
}

/** Runs work at once and again and again, with a pause after each run. Disposal resolves after the run in progress. */
export function repeatedFromNow(pauseMs: number, work: Work): AsyncDisposable {
  return loop(pauseMs, async (pause) => {
    await work()
    await pause()
  })
}

function loop(pauseMs: number, turn: (pause: Work) => Promise<void>): AsyncDisposable {
  const stopping = new AbortController()
  const pause = () => delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
  const running = (async () => {
    while (!stopping.signal.aborted) await turn(pause)
  })()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}
