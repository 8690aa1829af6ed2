import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'

/** A thread reads some files before it is ready. */
const START_MS_MAX = 60_000

export interface ThreadsOptions {
  /** Its module calls `serveThread`. */
  program: URL
  /** Threads at once; further jobs wait. */
  threadsMax: number
  /** Of the heap of one thread, which ends when it needs more; V8's own limit where absent. */
  memoryMbMax?: number
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
 * Runs a job in a thread and resolves with its answer; a thread that takes longer than `timeoutMs` is ended.
 * @throws ThreadLost
 */
export type RunInThread<Job, Answer> = (job: Job, options?: { timeoutMs?: number }) => Promise<Answer>

/** Threads of one program, started on demand; they do not keep the process alive. */
export function createThreads<Job, Answer>({
  program,
  threadsMax,
  memoryMbMax,
}: ThreadsOptions): RunInThread<Job, Answer> {
  const turns = pLimit(threadsMax)
  const idle: Worker[] = []

  async function start(): Promise<Worker> {
    const resourceLimits = memoryMbMax === undefined ? {} : { maxOldGenerationSizeMb: memoryMbMax }
    const worker = new Worker(program, { resourceLimits })
    // An error ends the thread, and its end fails the waiting job; without a listener it would end the server.
    worker.on('error', () => undefined)
    worker.once('exit', () => idle.splice(0, idle.length, ...idle.filter((one) => one !== worker)))
    try {
      await once(worker, 'message', { signal: AbortSignal.timeout(START_MS_MAX) })
      return worker
    } catch (error) {
      await worker.terminate()
      throw new ThreadLost('not-started', error)
    }
  }

  async function ask(job: Job, timeoutMs: number | undefined): Promise<Answer> {
    const worker = idle.pop() ?? (await start())
    worker.ref()
    try {
      const answer = await answerOf<Answer>(worker, job, timeoutMs)
      worker.unref()
      idle.push(worker)
      return answer
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  return (job, { timeoutMs } = {}) => turns(() => ask(job, timeoutMs))
}

function answerOf<Answer>(worker: Worker, job: unknown, timeoutMs: number | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => finish(() => reject(new ThreadLost('too-late'))), timeoutMs)
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
