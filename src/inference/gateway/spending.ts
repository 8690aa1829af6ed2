import type { Target } from '../served-models/service.ts'
import type { Project } from './project-header.ts'
import type { TokenUsage } from './reply-rewriter.ts'

/** One request that has ended. */
export interface Spending {
  keyId: string
  project: Project | undefined
  target: Target
  /** Undefined for a request that ended before its usage was known. */
  usage: TokenUsage | undefined
  /** Approximate tokens passed on of an answer that was cut. */
  events: number
  /** Of the request. */
  bytes: number
}

/** Counts what requests cost. */
export interface UsageRecorder {
  record(spending: Spending): void
}

/** Of English text; the engine reports the tokens of a prompt only at the end of its answer. */
const BYTES_PER_TOKEN = 4

/** The approximate usage of an answer that was cut. */
export function estimated({ events, bytes }: Pick<Spending, 'events' | 'bytes'>): TokenUsage {
  return {
    prompt_tokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    cached_tokens: 0,
    completion_tokens: events,
    reasoning_tokens: 0,
  }
}
