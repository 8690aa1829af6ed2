import pRetry, { AbortError } from 'p-retry'
import { ClientError } from '../errors.ts'
import { BadAnswer } from './bad-answer.ts'

/** What may succeed later is retried after 1, 2, 4, 8 and 16 s. */
const RETRIES = 5
const RETRY_MS = 1000

/**
 * Retries what may succeed later: too many requests, services and stores that are unavailable. @throws its last error.
 */
export function withRetries<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return pRetry(
    async () => {
      try {
        return await work()
      } catch (error) {
        throw isTemporary(error) || !(error instanceof Error) ? error : new AbortError(error)
      }
    },
    { retries: RETRIES, minTimeout: RETRY_MS, signal },
  )
}

/** Whether the same may succeed later. A bad answer is final: models often repeat theirs, and each is paid for. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof BadAnswer) return false
  return error instanceof ClientError && (error.status === 429 || error.status >= 500)
}
