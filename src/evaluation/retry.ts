import { setTimeout as delay } from 'node:timers/promises'
import pRetry, { AbortError } from 'p-retry'
import { ClientError } from '../errors.ts'
import { BadAnswer, NoAnswer, TooLate } from '../inference/playground/answer-errors.ts'

/** What may succeed later is retried after 1, 2, 4, 8 and 16 s. */
const RETRIES = 5
const RETRY_MS = 1000

/** A provider that wants to be left alone for longer than this has no minute's limit, but a day's. */
const RETRY_AFTER_S_MAX = 60

/**
 * Retries what may succeed soon: too many requests, services and stores that are unavailable. @throws its last error.
 */
export function withRetries<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return pRetry(
    async () => {
      try {
        return await work()
      } catch (error) {
        throw isSoonOver(error) || !(error instanceof Error) ? error : new AbortError(error)
      }
    },
    {
      retries: RETRIES,
      minTimeout: RETRY_MS,
      signal,
      onFailedAttempt: ({ error, retriesLeft }) =>
        retriesLeft > 0 ? untilWelcome(error, signal) : undefined,
    },
  )
}

/** Waits for as long as a provider asks for; the usual pause follows. */
async function untilWelcome(error: unknown, signal: AbortSignal): Promise<void> {
  if (!(error instanceof NoAnswer) || error.retryAfterSeconds === undefined) return
  const seconds = Math.min(error.retryAfterSeconds, RETRY_AFTER_S_MAX)
  // The retries end with the signal's reason.
  await delay(seconds * 1000, undefined, { signal }).catch(() => undefined)
}

/**
 * A model that took all the time of a question may do so again, while others wait for the place: that is left to a
 * later attempt.
 */
function isSoonOver(error: unknown): boolean {
  return isTemporary(error) && !(error instanceof TooLate)
}

/** Whether the same may succeed later. A bad answer is final: models often repeat theirs, and each is paid for. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof BadAnswer) return false
  return error instanceof ClientError && (error.status === 429 || error.status >= 500)
}
