import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import type { MemoryBudget } from './memory-budget.ts'
import { createNotifier } from './notifier.ts'
import {
  EngineProcessLost,
  type EngineProcessState,
  type EngineProcessStatus,
  type WhenFull,
} from './port.ts'

/** Delay before the first restart; doubles with every failed start. */
const BACKOFF_MS_MIN = 500

/** Longest delay before a restart: a fix from outside (memory, disk) is noticed within a minute. */
const BACKOFF_MS_MAX = 60_000

/** After this many failed starts in a row, waiting requests fail instead of waiting on. */
const FAILED_STARTS_MAX = 3

/** One instance of an engine process that became ready. */
export interface Instance<Ready> {
  ready: Ready
  /** False from the moment in which it can work no more, which may be before `ended` gives the reason. */
  isAlive(): boolean
  /** Aborts with an {@link EngineProcessLost} when this instance ends. */
  ended: AbortSignal
  /** Ends this instance because it hangs; the next one starts. */
  replace(reason: string): void
  /** Checks the process after a broken connection, where nothing else reports its end. */
  suspect(): void
}

export interface InstanceHooks<Ready> {
  /** Aborts with an {@link EngineProcessLost} when the process is to stop. */
  stopping: AbortSignal
  onOutput(lastLines: () => string[]): void
  /** Says what a start waits for; undefined once it goes on. */
  onWaiting(reason: string | undefined): void
  onReady(instance: Instance<Ready>): void
}

export interface SupervisorOptions<Ready> {
  name: string
  log: Log
  budget: MemoryBudget
  rank: 'keep' | 'stop-when-idle'
  memoryBytes: () => number
  /** Measures `memoryBytes`, before a start that needs it. */
  measure?: () => Promise<void>
  /** Runs one instance from start to end; resolves with why it ended. */
  runInstance: (hooks: InstanceHooks<Ready>) => Promise<string>
  /** A shorter delay than that of processes, where a start costs next to nothing. */
  backoffMsMax?: number
}

export interface Supervisor<Ready> extends AsyncDisposable {
  status(): EngineProcessStatus
  /** Counts a user until the returned function is called. */
  use(): () => void
  /** The current instance, if there is one; starts none. */
  current(): Instance<Ready> | undefined
  /**
   * The current instance once it is ready; starts one if necessary.
   * @throws EngineProcessLost when that fails; the signal's reason.
   */
  ready(signal: AbortSignal, whenFull?: WhenFull): Promise<Instance<Ready>>
}

/**
 * Keeps an engine process alive from when it is first needed until it is stopped: instance after instance, with growing
 * delays. One that cannot be started is not tried again before the next request, unless it is to be kept.
 */
export function supervise<Ready>(options: SupervisorOptions<Ready>): Supervisor<Ready> {
  const { name, log, backoffMsMax = BACKOFF_MS_MAX } = options
  const state = createState()
  const share = options.budget.add({ ...options, state: () => state.now, start, stop }, options.rank)
  let instance: Instance<Ready> | undefined
  let run: { stopping: AbortController; ended: Promise<void> } | undefined
  /** In a row, including times without requests. */
  let failedStarts = 0
  let isDisposed = false

  async function keepAlive(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const reason = await options
        .runInstance({
          stopping,
          onOutput: state.showLines,
          onWaiting(reason) {
            state.waitFor(reason)
            if (reason !== undefined) share.lackRoom()
          },
          onReady(current) {
            failedStarts = 0
            instance = current
            state.enter('ready')
          },
        })
        .catch((error: unknown) => `${name} could not be started: ${String(error)}`)
      if (instance === undefined && !stopping.aborted) failedStarts++
      instance = undefined
      if (stopping.aborted) return
      state.enter(failedStarts >= FAILED_STARTS_MAX ? 'failed' : 'restarting', reason)
      const pause = Math.min(backoffMsMax, BACKOFF_MS_MIN * 2 ** failedStarts)
      log.warn({ process: name, reason, pause_ms: pause }, 'engine process ended')
      await delay(pause, undefined, { signal: stopping }).catch(() => {})
      if (options.rank !== 'keep' && failedStarts >= FAILED_STARTS_MAX && share.users() === 0) return
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
      log.info({ process: name, reason }, 'engine process stopping')
      state.enter('stopping')
      stopping.abort(new EngineProcessLost(`${name} was ${reason}`))
    }
    await ended
  }

  return {
    use: share.use,
    current: () => (isUsable(instance) ? instance : undefined),
    status: () => ({
      name,
      ...state.status(),
      users: share.users(),
      memory_bytes: options.memoryBytes(),
    }),
    async ready(signal, whenFull = 'refuse') {
      const release = share.use()
      try {
        for (;;) {
          signal.throwIfAborted()
          if (isUsable(instance)) return instance
          if (state.now === 'failed' || state.now === 'stopped')
            throw new EngineProcessLost(state.status().last_error ?? `${name} has stopped`)
          if (state.now === 'idle') await share.start(whenFull, signal)
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
      share.leave()
    },
  }
}

function isUsable<Ready>(instance: Instance<Ready> | undefined): instance is Instance<Ready> {
  return instance?.isAlive() === true && !instance.ended.aborted
}

/** A state that can be waited on. */
function createState() {
  let now: EngineProcessState = 'idle'
  let since = nowIso()
  let lastError: string | null = null
  let waitingFor: string | null = null
  let lastLines: () => string[] = () => []
  const changes = createNotifier()

  return {
    get now() {
      return now
    },
    status: () => ({
      state: now,
      since,
      last_error: lastError,
      waiting_for: waitingFor,
      last_lines: lastLines(),
    }),
    showLines(lines: () => string[]): void {
      lastLines = lines
    },
    /** Until another state is entered. */
    waitFor(reason: string | undefined): void {
      waitingFor = reason ?? null
    },
    /** `error`: the last failure; nothing else changes it. */
    enter(next: EngineProcessState, error: string | null = lastError): void {
      lastError = error
      waitingFor = null
      if (next === now) return
      now = next
      since = nowIso()
      changes.notify()
    },
    /** Resolves with the next change, or with the signal. */
    changed: changes.next,
  }
}
