import type { Caller } from './caller.ts'

/** What is left of the requests of a minute. */
export interface RequestsLeft {
  limit: number
  remaining: number
  resetSeconds: number
}

/**
 * Counts a request of a caller, for the entity that it is about; what is left where there is a limit.
 * @throws 429 beyond it
 */
export type CountRequest = (caller: Caller, entity: string | undefined) => Promise<RequestsLeft | undefined>

/** The headers by which OpenAI's clients and people know their limits. */
export function limitHeaders(left: RequestsLeft | undefined): Record<string, string> {
  if (left === undefined) return {}
  return {
    'x-ratelimit-limit-requests': String(left.limit),
    'x-ratelimit-remaining-requests': String(left.remaining),
    'x-ratelimit-reset-requests': `${left.resetSeconds}s`,
  }
}
