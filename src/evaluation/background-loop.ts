import type { Log } from '../log.ts'

/** Pause after an error, such as a full disk. */
const RETRY_MS = 5000

/** Timers of Node take at most 24 days; what is due later is looked for again. */
const SLEEP_MS_MAX = 60 * 60 * 1000

/**
 * Does work of which some is always due later. `pass` does what is due and resolves with when it has to be called next,
 * as an ISO date-time, or undefined for nothing.
 */
export function createBackgroundLoop(options: {
  name: string
  log: Log
  pass: (signal: AbortSignal) => Promise<string | undefined>
}) {
  const { name, log, pass } = options
  const disposal = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isKicked = false

  async function run(): Promise<void> {
    let next: string | undefined
    do {
      isKicked = false
      next = await pass(disposal.signal)
    } while ((isKicked || isPast(next)) && !disposal.signal.aborted)
    if (next !== undefined) wakeIn(Date.parse(next) - Date.now())
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(kick, Math.min(Math.max(ms, 1), SLEEP_MS_MAX))
    timer.unref()
  }

  /** Looks for work now. */
  function kick(): void {
    isKicked = true
    if (running !== undefined || disposal.signal.aborted) return
    running = run()
      .catch((error: unknown) => {
        if (disposal.signal.aborted) return
        log.error({ err: error, loop: name }, 'work in the background pauses')
        wakeIn(RETRY_MS)
      })
      .finally(() => {
        running = undefined
      })
  }

  return {
    kick,
    start(): AsyncDisposable {
      kick()
      return {
        async [Symbol.asyncDispose]() {
          disposal.abort(new Error('The server is stopping'))
          clearTimeout(timer)
          await running
        },
      }
    },
  }
}

function isPast(time: string | undefined): boolean {
  return time !== undefined && Date.parse(time) <= Date.now()
}
