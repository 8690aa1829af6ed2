import type { TokenBucket } from './token-bucket.ts'

const MINUTE_MS = 60_000

/** What is left of a limit per minute. */
export interface RateLimitState {
  limit: number
  left: number
  /** Until all of it is left again. */
  resetMs: number
}

/** The state of a bucket whose number per minute is the limit. */
export function rateLimitState(bucket: TokenBucket, limit: number): RateLimitState {
  return { limit, left: Math.max(0, Math.floor(bucket.left())), resetMs: bucket.msUntil(limit) }
}

/** Wire: OpenAI's names. They report the limit of which the least is left; none where there is no limit. */
export function rateLimitHeaders(
  counted: 'requests' | 'tokens',
  states: readonly RateLimitState[],
): Record<string, string> {
  const [tightest] = states.toSorted((one, other) => one.left - other.left)
  if (tightest === undefined) return {}
  return {
    [`x-ratelimit-limit-${counted}`]: String(tightest.limit),
    [`x-ratelimit-remaining-${counted}`]: String(tightest.left),
    [`x-ratelimit-reset-${counted}`]: durationText(tightest.resetMs),
  }
}

/** How long, as OpenAI writes it in its headers: `12ms`, `1.5s`, `6m0s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`
  if (ms < MINUTE_MS) return `${Math.ceil(ms / 100) / 10}s`
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`
}
