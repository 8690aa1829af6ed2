import type { CallContext } from '../../http/caller.ts'
import type { Project } from './project-header.ts'
import type { TokenUsage } from './reply-rewriter.ts'

/** Who a request counts for. */
export interface Spender {
  keyId: string
  /** That of the project, or the caller's where the request names none. */
  entity: string
  project: Project | undefined
}

/** One request that has ended. */
export interface Spending extends Spender {
  /** A base model, `entity/project/name` of a trained one, or `provider/name`. */
  model: string
  /** The base model, or the name that a provider has for it. */
  baseModel: string
  /** Of a trained model. */
  step?: number | undefined
  /** Undefined for a request that ended before its usage was known. */
  usage: TokenUsage | undefined
  /** Approximate tokens passed on of an answer that was cut. */
  events: number
  /** Of the request. */
  bytes: number
}

/** Counts what requests cost, within budgets. */
export interface UsageRecorder {
  /** Shows in headers what is left. @throws 402 where a budget is spent */
  admit(spender: Spender, context: Pick<CallContext, 'limits'>): Promise<void>
  /** Shows it once more, when a request has ended. */
  show(spender: Spender, context: Pick<CallContext, 'limits'>): void
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
