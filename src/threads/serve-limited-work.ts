import { ClientError, messageOf } from '../errors.ts'
import { serveThread } from './serve-thread.ts'

/** The result of a job, why it is refused, or the error that it failed with. */
export type WorkAnswer<Result> =
  | { result: Result }
  | { refused: Pick<ClientError, 'status' | 'type' | 'message'> }
  | { failed: string }

/** Makes this module the program of threads that do a job after the other. A ClientError refuses a job. */
export function serveLimitedWork<Job, Result>(work: (job: Job) => Result): void {
  serveThread((job: Job): WorkAnswer<Result> => {
    try {
      return { result: work(job) }
    } catch (error) {
      if (!(error instanceof ClientError)) return { failed: messageOf(error) }
      const { status, type, message } = error
      return { refused: { status, type, message } }
    }
  })
}
