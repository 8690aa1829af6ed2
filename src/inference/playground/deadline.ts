import { invalidRequest } from '../../errors.ts'
import { TooLate } from './answer-errors.ts'

/** The longest that an answer may take; reasoning models think for minutes. */
const SECONDS_MAX = 600

/** The error in the call of an answer whose client disconnected. */
export const CLIENT_GONE = 'The client went away before the answer was complete'

/** The time limit of an answer. Dispose of it when the answer is there. */
export interface Deadline extends Disposable {
  signal: AbortSignal
  timeoutMs: number
  /** The error to report: an aborted request fails with many different messages. */
  causeOf(error: unknown): unknown
}

/**
 * A signal that aborts with `client`, and after `timeout` seconds with an error for clients.
 * @throws 400 for a timeout that is no number of seconds.
 */
export function startDeadline(timeout: number | string | null | undefined, client: AbortSignal): Deadline {
  const seconds = Math.min(Number(timeout ?? SECONDS_MAX), SECONDS_MAX)
  if (!(seconds > 0)) throw invalidRequest(`timeout must be a number of seconds, not ${timeout}`)
  const controller = new AbortController()
  const late = new TooLate(`The model did not answer within ${seconds} s`)
  const timer = setTimeout(() => controller.abort(late), seconds * 1000)

  function causeOf(error: unknown): unknown {
    if (client.aborted) return new Error(CLIENT_GONE, { cause: client.reason })
    return controller.signal.aborted ? late : error
  }

  return {
    signal: AbortSignal.any([client, controller.signal]),
    timeoutMs: seconds * 1000,
    causeOf,
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** Runs work with the deadline. @throws TooLate when it passes, and the error of the work. */
export async function inTime<Result>(
  timeout: number | string | null | undefined,
  client: AbortSignal,
  work: (deadline: Deadline) => Promise<Result>,
): Promise<Result> {
  using deadline = startDeadline(timeout, client)
  try {
    return await work(deadline)
  } catch (error) {
    throw deadline.causeOf(error)
  }
}
