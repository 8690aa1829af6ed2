import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import { type Child, type ChildSpec, startChild } from './child.ts'
import { PartLost, type PartState, type PartStatus } from './port.ts'

/** Waiting time before the first restart; doubles with every start that goes wrong. */
const BACKOFF_MS_MIN = 500

/** Longest waiting time before a restart: a cure from outside (memory, disk) is noticed within a minute. */
const BACKOFF_MS_MAX = 60_000

/** After this many starts in a row that went wrong, whoever waits is told so instead of waiting on. */
const FAILED_STARTS_MAX = 3

/** Fetching and loading a large base model may take this long; a start that takes longer hangs. */
const START_MS_MAX = 60 * 60_000

/** A starting child that writes nothing for this long hangs; imports on a busy machine took up to 30 s in silence. */
const START_SILENCE_MS_MAX = 180_000

/** How often a starting child is looked at. */
const START_WATCH_MS = 1_000

export interface SupervisorOptions<Ready> {
  name: string
  log: Log
  /** Called for every start, because a port may have to be chosen anew. */
  spec: () => Promise<ChildSpec>
  /** Resolves once the child can work; what it returns is handed to those who wait. */
  untilReady: (child: Child, signal: AbortSignal) => Promise<Ready>
}

/** One life of a child that became ready. */
export interface Life<Ready> {
  child: Child
  ready: Ready
  /** Aborts with a {@link PartLost} when this life ends. */
  ended: AbortSignal
  /** Ends this life because it hangs; the next one begins. */
  replace(reason: string): void
}

export interface Supervisor<Ready> extends AsyncDisposable {
  status(): PartStatus
  /** The current life once it is ready. @throws PartLost when starting fails; the signal's reason. */
  ready(signal: AbortSignal): Promise<Life<Ready>>
}

/** Keeps one child process alive: starts it again, with growing pauses, whenever it ends. */
export function supervise<Ready>(options: SupervisorOptions<Ready>): Supervisor<Ready> {
  const { name, log } = options
  const disposal = new AbortController()
  let state: PartState = 'starting'
  let since = nowIso()
  let lastError: string | null = null
  let child: Child | undefined
  let life: Life<Ready> | undefined
  let failedStarts = 0
  let waiters: (() => void)[] = []

  function enter(next: PartState): void {
    if (next === state) return
    state = next
    since = nowIso()
    for (const wake of waiters) wake()
    waiters = []
  }

  async function loop(): Promise<void> {
    while (!disposal.signal.aborted) {
      failedStarts++
      lastError = await liveOnce(options, {
        disposed: disposal.signal,
        onStart(started) {
          child = started
        },
        onReady(current) {
          failedStarts = 0
          life = current
          enter('ready')
        },
      }).catch((error: unknown) => `${name} could not be started: ${String(error)}`)
      life = undefined
      if (disposal.signal.aborted) break
      enter(failedStarts >= FAILED_STARTS_MAX ? 'failed' : 'restarting')
      const pause = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failedStarts)
      log.warn({ part: name, reason: lastError, restart_ms: pause }, 'engine part ended')
      await delay(pause, undefined, { signal: disposal.signal }).catch(() => {})
    }
    enter('stopped')
  }

  const running = loop()

  return {
    status: () => ({
      name,
      state,
      since,
      last_error: lastError,
      last_lines: child?.lastLines() ?? [],
    }),
    async ready(signal) {
      for (;;) {
        signal.throwIfAborted()
        if (life?.child.isAlive() && !life.ended.aborted) return life
        if (state === 'failed' || state === 'stopped') throw new PartLost(lastError ?? `${name} has stopped`)
        await changed(signal)
      }
    },
    async [Symbol.asyncDispose]() {
      disposal.abort()
      await running
    },
  }

  function changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      waiters.push(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

interface LifeHooks<Ready> {
  disposed: AbortSignal
  onStart(child: Child): void
  onReady(life: Life<Ready>): void
}

/** Runs one child from start to end; resolves with why it ended. */
async function liveOnce<Ready>(options: SupervisorOptions<Ready>, hooks: LifeHooks<Ready>): Promise<string> {
  const { name, log } = options
  const ended = new AbortController()
  let killReason: string | undefined
  const child = startChild(await options.spec())
  hooks.onStart(child)
  log.info({ part: name, pid: child.pid }, 'engine part starting')
  const gone = child.exited.then((how) => {
    const reason = `${name} ended: ${killReason ?? how}${lastWords(child.lastLines())}`
    ended.abort(new PartLost(reason))
    return reason
  })
  function replace(reason: string): void {
    if (ended.signal.aborted || killReason !== undefined) return
    killReason = reason
    void child.kill('at-once')
  }
  const stop = (): void => void child.kill('politely')
  if (hooks.disposed.aborted) stop()
  else hooks.disposed.addEventListener('abort', stop, { once: true })
  const startedAt = performance.now()
  const startTimer = setInterval(() => {
    if (child.silentMs() > START_SILENCE_MS_MAX) {
      replace(`its start hung: it wrote nothing for ${START_SILENCE_MS_MAX / 1000} s`)
    } else if (performance.now() - startedAt > START_MS_MAX) {
      replace(`not ready within ${START_MS_MAX / 1000} s`)
    }
  }, START_WATCH_MS)
  try {
    const ready = await options.untilReady(child, ended.signal)
    log.info({ part: name, pid: child.pid }, 'engine part ready')
    hooks.onReady({ child, ready, ended: ended.signal, replace })
  } catch (error) {
    if (!ended.signal.aborted) replace(`its start failed (${String(error)})`)
  } finally {
    clearInterval(startTimer)
  }
  const reason = await gone
  hooks.disposed.removeEventListener('abort', stop)
  return reason
}

/** Our own mark at the end of a log, and progress bars. */
const NO_WORDS = /^— ended|\d+%\|/

/** The end of the output is where programs say what went wrong. */
function lastWords(lines: string[]): string {
  const words = lines.filter((line) => line.trim() !== '' && !NO_WORDS.test(line)).at(-1)
  return words === undefined ? '' : `; its last words: ${words.trim()}`
}
