import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { tooManyRequests } from '../errors.ts'
import { createFairLimiter } from '../fairness/fair-limiter.ts'

/**
 * Jobs of one entity that wait: more than the rules of four evaluations with a hundred scorers each, which have 16 rows
 * in progress.
 */
const WAITING_MAX = 10_000

/** Seconds after which a job that was refused may have room. */
const RETRY_SECONDS = 10

/** A thread reads some files before it is ready. */
const START_MS_MAX = 60_000

/** A thread without work holds some 40 MB, and another one is ready in a fifth of a second. */
const IDLE_MS_MAX = 60_000

export interface ThreadsOptions {
  /** Its module calls `serveThread`. */
  program: URL
  /** Threads at once; further jobs wait. */
  threadsMax: number
  /** Of the heap of one thread, which ends when it needs more. */
  memoryMbMax: number
}

/** A job that was not answered: its thread did not start, took too long, or ended. */
export class ThreadLost extends Error {
  readonly why: 'not-started' | 'too-late' | 'ended'

  constructor(why: ThreadLost['why'], cause?: unknown) {
    super(`The thread was lost: ${why}`, { cause })
    this.why = why
  }
}

/**
 * Runs a job in a thread and resolves with its answer; a thread that takes longer than `timeoutMs` is ended. Owners
 * take turns, and each has one thread at a time (`owner-turns.ts`).
 * @throws ThreadLost, and 429 where too many jobs of the owner's entity wait
 */
export type RunInThread<Job, Answer> = (
  owner: string,
  job: Job,
  options: { timeoutMs: number },
) => Promise<Answer>

/**
 * Threads of one program, started on demand and ended when they have had no work for a while; they do not keep the
 * process alive.
 */
export function createThreads<Job, Answer>({
  program,
  threadsMax,
  memoryMbMax,
}: ThreadsOptions): RunInThread<Job, Answer> {
  const turns = createFairLimiter({
    slots: threadsMax,
    ownerSlots: 1,
    waitingMax: WAITING_MAX,
    refusal: (entity) =>
      tooManyRequests(`${WAITING_MAX} pieces of such work of ${entity} are waiting already`, RETRY_SECONDS),
  })
  const idle: { worker: Worker; ending: NodeJS.Timeout }[] = []

  async function start(): Promise<Worker> {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: memoryMbMax } })
    // An error ends the thread, and its end fails the waiting job; without a listener it would end the server.
    worker.on('error', () => undefined)
    worker.once('exit', () => forget(worker))
    try {
      await once(worker, 'message', { signal: AbortSignal.timeout(START_MS_MAX) })
      return worker
    } catch (error) {
      await worker.terminate()
      throw new ThreadLost('not-started', error)
    }
  }

  function forget(worker: Worker): void {
    const at = idle.findIndex((one) => one.worker === worker)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.ending)
  }

  /** The one that had work last, so that the others end. */
  function takeIdle(): Worker | undefined {
    const last = idle.pop()
    clearTimeout(last?.ending)
    return last?.worker
  }

  function keepIdle(worker: Worker): void {
    worker.unref()
    const end = (): void => {
      forget(worker)
      void worker.terminate()
    }
    idle.push({ worker, ending: setTimeout(end, IDLE_MS_MAX).unref() })
  }

  async function ask(job: Job, timeoutMs: number): Promise<Answer> {
    const worker = takeIdle() ?? (await start())
    worker.ref()
    try {
      const answer = await answerOf<Answer>(worker, job, timeoutMs)
      keepIdle(worker)
      return answer
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  return (owner, job, { timeoutMs }) => turns(owner, () => ask(job, timeoutMs))
}

function answerOf<Answer>(worker: Worker, job: unknown, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new ThreadLost('too-late'))), timeoutMs)
    const onMessage = (answer: Answer): void => finish(() => resolve(answer))
    const onExit = (): void => finish(() => reject(new ThreadLost('ended')))
    function finish(settle: () => void): void {
      clearTimeout(timer)
      worker.off('message', onMessage).off('exit', onExit)
      settle()
    }
    worker.on('message', onMessage).on('exit', onExit)
    worker.postMessage(job)
  })
}
