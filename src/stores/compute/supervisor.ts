import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import type { MemoryBudget, MemoryShare } from './memory-budget.ts'
import { createNotifier } from './notifier.ts'
import { EngineProcessLost, type EngineProcessState, type EngineProcessStatus, type Wait } from './port.ts'

/** Delay before the first restart; doubles with every failed start. */
const BACKOFF_MS_MIN = 500

/** Longest delay before a restart: a fix from outside (memory, disk) is noticed within a minute. */
const BACKOFF_MS_MAX = 60_000

/** Weights of a hundred gigabytes travel between a GPU and the machine's memory in seconds. */
export const SLEEP_MS_MAX = 120_000

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
  /** Says that this start fails, and that every other one would. */
  onUnstartable(): void
  onReady(instance: Instance<Ready>): void
}

/** The memory of a process that sleeps. */
export interface SleepMemory {
  /** What it keeps of the memory that it shares with others. */
  bytes: number
  /** Takes room for what it gives up, until it is there; it is ended where there is none. */
  reserve(): (() => void) | undefined
}

/** How a process gives its memory to others without its end. */
export interface Sleep<Ready> extends SleepMemory {
  /** Resolves once its memory is free. @throws Error where it did not fall asleep; it is ended then */
  begin(instance: Instance<Ready>, signal: AbortSignal): Promise<void>
  /** Resolves once it works again. @throws Error where it does not; it is replaced then */
  end(instance: Instance<Ready>, signal: AbortSignal): Promise<void>
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
  /** Where absent, a process that gives way ends. */
  sleep?: Sleep<Ready> | undefined
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
  ready(signal: AbortSignal, wait?: Wait): Promise<Instance<Ready>>
}

/**
 * Keeps an engine process alive from when it is first needed until it is stopped: instance after instance, with growing
 * delays. One that cannot be started is not tried again before the next request, unless it is to be kept.
 */
export function supervise<Ready>(options: SupervisorOptions<Ready>): Supervisor<Ready> {
  const { name, log } = options
  const state = createState()
  const failures = createFailures(options.backoffMsMax)
  const sleeper = createSleeper(options, state)
  const memoryBytes = (): number => (state.now === 'asleep' ? sleeper.bytes() : options.memoryBytes())
  const giveWay = oneAtATime(async (reason: string) => {
    if (!(await sleeper.fallAsleep(awake(), reason))) await stop(reason)
  })
  const share = options.budget.add(
    {
      ...options,
      memoryBytes,
      wakingBytes: () => options.memoryBytes() - memoryBytes(),
      state: () => state.now,
      start: () => (state.now === 'asleep' && instance ? void sleeper.wake(instance) : start()),
      giveWay,
      stop,
    },
    options.rank,
  )
  let instance: Instance<Ready> | undefined
  let run: { stopping: AbortController; ended: Promise<void> } | undefined
  let isDisposed = false

  const awake = (): Instance<Ready> | undefined =>
    state.now === 'ready' && isUsable(instance) ? instance : undefined

  const hooks: Omit<InstanceHooks<Ready>, 'stopping'> = {
    onOutput: state.showLines,
    onWaiting(reason) {
      state.waitFor(reason)
      if (reason !== undefined) share.lackRoom()
    },
    onUnstartable: failures.addUnstartable,
    onReady(current) {
      failures.end()
      instance = current
      state.enter('ready')
    },
  }

  async function keepAlive(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const reason = await options
        .runInstance({ ...hooks, stopping })
        .catch((error: unknown) => `${name} could not be started: ${String(error)}`)
      if (instance === undefined && !stopping.aborted) failures.add()
      instance = undefined
      // Its memory is that of others now.
      if (stopping.aborted || state.now === 'asleep') return
      state.enter(failures.areMany() ? 'failed' : 'restarting', reason)
      log.warn({ process: name, reason, pause_ms: failures.pauseMs() }, 'engine process ended')
      await delay(failures.pauseMs(), undefined, { signal: stopping }).catch(() => {})
      if (options.rank !== 'keep' && failures.areMany() && share.users() === 0) return
    }
  }

  function start(): void {
    const stopping = new AbortController()
    state.enter('starting', null)
    const ended = keepAlive(stopping.signal).then(() => {
      // One that ended asleep may have been started again by now.
      if (run?.stopping !== stopping) return
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
    current: awake,
    status: () => ({ name, ...state.status(), users: share.users(), memory_bytes: memoryBytes() }),
    ready: (signal, wait = {}) => untilAwake({ name, state, share, awake, failures }, signal, wait),
    async [Symbol.asyncDispose]() {
      isDisposed = true
      await stop('stopped by the server')
      state.enter('stopped')
      share.leave()
    },
  }
}

/** Puts instances to sleep and wakes them, and says so by the state of their process. */
function createSleeper<Ready>(
  { name, log, sleep, memoryBytes }: Pick<SupervisorOptions<Ready>, 'name' | 'log' | 'sleep' | 'memoryBytes'>,
  state: Pick<State, 'enter'>,
) {
  const until = ({ ended }: Instance<Ready>): AbortSignal =>
    AbortSignal.any([ended, AbortSignal.timeout(SLEEP_MS_MAX)])

  return {
    /** Memory of an instance that sleeps. */
    bytes: () => Math.min(sleep?.bytes ?? 0, memoryBytes()),

    /** Resolves with whether it sleeps now; only one that works can fall asleep. */
    async fallAsleep(instance: Instance<Ready> | undefined, reason: string): Promise<boolean> {
      if (sleep === undefined || instance === undefined) return false
      const release = sleep.reserve()
      if (release === undefined) {
        log.warn({ process: name }, 'engine process ends: the machine has no room for its weights asleep')
        return false
      }
      log.info({ process: name, reason }, 'engine process falls asleep')
      state.enter('stopping')
      try {
        await sleep.begin(instance, until(instance))
      } catch (error) {
        log.warn({ process: name, reason: messageOf(error) }, 'engine process does not fall asleep')
        return false
      } finally {
        release()
      }
      if (isUsable(instance)) state.enter('asleep')
      return isUsable(instance)
    },

    async wake(instance: Instance<Ready>): Promise<void> {
      state.enter('starting')
      try {
        await sleep?.end(instance, until(instance))
        if (isUsable(instance)) state.enter('ready')
      } catch (error) {
        instance.replace(`it does not wake (${messageOf(error)})`)
      }
    },
  }
}

/** Makes calls that come while one is in progress wait for that one. */
function oneAtATime<Argument>(work: (argument: Argument) => Promise<void>) {
  let current: Promise<void> | undefined
  return (argument: Argument): Promise<void> => {
    current ??= work(argument).finally(() => {
      current = undefined
    })
    return current
  }
}

/** An engine process that is waited for. */
interface Waited<Ready> {
  name: string
  state: State
  share: MemoryShare
  awake: () => Instance<Ready> | undefined
  failures: Failures
}

/** The instance that works, once there is one; starts or wakes it if necessary. */
async function untilAwake<Ready>(
  { name, state, share, awake, failures }: Waited<Ready>,
  signal: AbortSignal,
  { whenFull = 'refuse', failingMs = 0 }: Wait,
): Promise<Instance<Ready>> {
  const release = share.use()
  let failedAt: number | undefined
  try {
    for (;;) {
      signal.throwIfAborted()
      const current = awake()
      if (current !== undefined) return current
      // Looked at when a start has failed, so that the last one may take as long as it needs.
      if (state.now === 'failed') failedAt ??= performance.now()
      const hasFailedForLong = failedAt !== undefined && performance.now() - failedAt >= failingMs
      if (
        state.now === 'stopped' ||
        (state.now === 'failed' && (hasFailedForLong || failures.isUnstartable()))
      )
        throw new EngineProcessLost(
          (state.now === 'failed' && state.status().last_error) || `${name} has stopped`,
        )
      if (state.now === 'idle' || state.now === 'asleep') await share.start(whenFull, signal)
      else await state.changed(signal)
    }
  } finally {
    release()
  }
}

function isUsable<Ready>(instance: Instance<Ready> | undefined): instance is Instance<Ready> {
  return instance?.isAlive() === true && !instance.ended.aborted
}

type Failures = ReturnType<typeof createFailures>

/** Starts that failed in a row, including times without requests. */
function createFailures(pauseMsMax: number = BACKOFF_MS_MAX) {
  let inARow = 0
  let unstartableAt: number | undefined

  return {
    add(): void {
      inARow++
    },
    end(): void {
      inARow = 0
      unstartableAt = undefined
    },
    /** Says of the start that fails now that every other one would; the next one may find that this has changed. */
    addUnstartable(): void {
      unstartableAt = inARow + 1
    },
    areMany: () => unstartableAt === inARow || inARow >= FAILED_STARTS_MAX,
    isUnstartable: () => unstartableAt === inARow,
    pauseMs: () => Math.min(pauseMsMax, BACKOFF_MS_MIN * 2 ** inARow),
  }
}

type State = ReturnType<typeof createState>

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
      if (next !== now) since = nowIso()
      now = next
      changes.notify()
    },
    /** Resolves when a state is entered, be it the same once more, or with the signal. */
    changed: changes.next,
  }
}
