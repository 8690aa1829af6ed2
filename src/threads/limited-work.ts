import { ClientError, dependencyFailed, tooLarge } from '../errors.ts'
import type { WorkAnswer } from './serve-limited-work.ts'
import { createThreads, ThreadLost } from './threads.ts'

/** The other processors serve the rest of the machine. */
const THREADS_MAX = 2

export interface LimitedWorkOptions {
  /** Its module calls `serveLimitedWork`. */
  program: URL
  /** What the work does, as errors say it: `convert the spans`. */
  does: string
  /** Of one job. */
  msMax: number
  /** Of the heap of one thread. */
  memoryMbMax: number
}

/**
 * Does a job in a thread. Jobs of one owner, such as a user, are done one after the other, which leaves the other
 * thread to others.
 * @throws ClientError what the work refuses; 413 for a job that takes too long or too much memory, 503 without a
 * thread, 429 where too many of the owner's entity wait.
 */
export type LimitedWork<Job, Result> = (owner: string, job: Job) => Promise<Result>

/** Work on what users send, which may take long: in threads of its own, with a limit of time and memory. */
export function createLimitedWork<Job, Result>({
  program,
  does,
  msMax,
  memoryMbMax,
}: LimitedWorkOptions): LimitedWork<Job, Result> {
  const ask = createThreads<Job, WorkAnswer<Result>>({ program, threadsMax: THREADS_MAX, memoryMbMax })

  function refusalOf(lost: ThreadLost): Error {
    if (lost.why === 'not-started') return dependencyFailed(`No thread to ${does} could be started`, lost)
    const limit = lost.why === 'too-late' ? `${msMax} ms` : `${memoryMbMax} MB of memory`
    return tooLarge(`To ${does} takes more than ${limit}: send less at once`)
  }

  return async (owner, job) => {
    const answer = await ask(owner, job, { timeoutMs: msMax }).catch((error: unknown) => {
      throw error instanceof ThreadLost ? refusalOf(error) : error
    })
    if ('result' in answer) return answer.result
    if ('failed' in answer) throw dependencyFailed(`The server failed to ${does}`, new Error(answer.failed))
    const { status, type, message } = answer.refused
    throw new ClientError(status, type, message)
  }
}
