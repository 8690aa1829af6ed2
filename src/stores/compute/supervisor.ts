import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import { createBell } from './bell.ts'
import type { Parts } from './parts.ts'
import { PartLost, type PartState, type PartStatus, type WhenFull } from './port.ts'

/** Delay before the first restart; doubles with every failed start. */
const BACKOFF_MS_MIN = 500

/** Longest delay before a restart: a fix from outside (memory, disk) is noticed within a minute. */
const BACKOFF_MS_MAX = 60_000

/** After this many failed starts in a row, waiting requests fail instead of waiting on. */
const FAILED_STARTS_MAX = 3

/** One life of an engine process that became ready. */
export interface Life<Ready> {
  ready: Ready
  /** False from the moment in which it can work no more, which may be before `ended` gives the reason. */
  isAlive(): boolean
  /** Aborts with a {@link PartLost} when this life ends. */
  ended: AbortSignal
  /** Ends this life because it hangs; the next one starts. */
  replace(reason: string): void
  /** Checks the process after a broken connection, where nothing else reports its end. */
  suspect(): void
}

export interface LifeHooks<Ready> {
  /** Aborts with a {@link PartLost} when the process is to stop. */
  stopping: AbortSignal
  onOutput(lastLines: () => string[]): void
  onReady(life: Life<Ready>): void
}

export interface SupervisorOptions<Ready> {
  name: string
  log: Log
  parts: Parts
  rank: 'keep' | 'stop-when-idle'
  memoryBytes: () => number
  /** Measures `memoryBytes`, before a start that needs it. */
  measure?: () => Promise<void>
  /** Runs one life from start to end; resolves with why it ended. */
  live: (hooks: LifeHooks<Ready>) => Promise<string>
  /** A shorter delay than that of processes, where a start costs next to nothing. */
  backoffMsMax?: number
}

export interface Supervisor<Ready> extends AsyncDisposable {
  status(): PartStatus
  /** Counts a user until the returned function is called. */
  use(): () => void
  /** The current life, if there is one; starts none. */
  current(): Life<Ready> | undefined
  /**
   * The current life once it is ready; starts one if necessary. @throws PartLost when that fails; the signal's reason.
   */
  ready(signal: AbortSignal, whenFull?: WhenFull): Promise<Life<Ready>>
}

/**
 * Keeps an engine process alive from when it is first needed until it is stopped: life after life, with growing delays.
 * One that cannot be started is not tried again before the next request, unless it is to be kept.
 */
export function supervise<Ready>(options: SupervisorOptions<Ready>): Supervisor<Ready> {
  const { name, log } = options
  const state = createState()
  const seat = options.parts.add({ ...options, state: () => state.now, start, stop }, options.rank)
  let lastLines: () => string[] = () => []
  let life: Life<Ready> | undefined
  let run: { stopping: AbortController; ended: Promise<void> } | undefined
  /** In a row, including times without requests. */
  let failedStarts = 0
  let isDisposed = false

  async function keepAlive(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const reason = await options
        .live({
          stopping,
          onOutput(lines) {
            lastLines = lines
          },
          onReady(current) {
            failedStarts = 0
            life = current
            state.enter('ready')
          },
        })
        .catch((error: unknown) => `${name} could not be started: ${String(error)}`)
      if (life === undefined && !stopping.aborted) failedStarts++
      life = undefined
      if (stopping.aborted) return
      state.enter(failedStarts >= FAILED_STARTS_MAX ? 'failed' : 'restarting', reason)
      const pause = Math.min(options.backoffMsMax ?? BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failedStarts)
      log.warn({ part: name, reason, pause_ms: pause }, 'engine part ended')
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
      if (options.rank !== 'keep' && failedStarts >= FAILED_STARTS_MAX && seat.users() === 0) return
    }
  }

  function start(): void {
    const stopping = new AbortController()
    state.enter('starting', null)
    const ended = keepAlive(stopping.signal).then(() => {
      run = undefined
      state.enter(isDisposed ? 'stopped' : 'idle')
    })
    run = { stopping, ended }
  }

  async function stop(reason: string): Promise<void> {
    if (run === undefined) return
    const { stopping, ended } = run
    if (!stopping.signal.aborted) {
      log.info({ part: name, reason }, 'engine part stopping')
      state.enter('stopping')
      stopping.abort(new PartLost(`${name} was ${reason}`))
    }
    await ended
  }

  return {
    use: seat.use,
    current: () => (isUsable(life) ? life : undefined),
    status: () => ({
      name,
      ...state.status(),
      last_lines: lastLines(),
      users: seat.users(),
      memory_bytes: options.memoryBytes(),
    }),
    async ready(signal, whenFull = 'refuse') {
      const release = seat.use()
      try {
        for (;;) {
          signal.throwIfAborted()
          if (isUsable(life)) return life
          if (state.now === 'failed' || state.now === 'stopped')
            throw new PartLost(state.status().last_error ?? `${name} has stopped`)
          if (state.now === 'idle') await seat.start(whenFull, signal)
          else await state.changed(signal)
        }
      } finally {
        release()
      }
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true
      await stop('stopped by the server')
      state.enter('stopped')
      seat.leave()
    },
  }
}

function isUsable<Ready>(life: Life<Ready> | undefined): life is Life<Ready> {
  return life?.isAlive() === true && !life.ended.aborted
}

/** A state that can be waited on. */
function createState() {
  let now: PartState = 'idle'
  let since = nowIso()
  let lastError: string | null = null
  const changes = createBell()

  return {
    get now() {
      return now
    },
    status: () => ({ state: now, since, last_error: lastError }),
    /** `error`: the last failure; nothing else changes it. */
    enter(next: PartState, error: string | null = lastError): void {
      lastError = error
      if (next === now) return
      now = next
      since = nowIso()
      changes.ring()
    },
    /** Resolves with the next change, or with the signal. */
    changed: changes.next,
  }
}
