import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import type { Ask } from '../ask.ts'
import type { AgentTurn } from './agent-turn.ts'

/** The input of a scorer: a model's output, and the call's inputs or the row of the dataset. */
export interface Scored {
  output: unknown
  /** By name of argument or column. */
  inputs: Record<string, unknown>
  /** The call that put it out. */
  call?: ScoredCall
  /** The turn of an agent that the call is, where it is scored as one. */
  turn?: AgentTurn
}

export type ScoredCall = Pick<Call, 'id' | 'trace_id' | 'op_name' | 'started_at' | 'ended_at' | 'exception'>

/** The call that the scoring is a part of. */
export interface ScoringContext {
  /** Asks a model, as a call below that of the scoring. */
  ask: Ask
  project_id: string
  /** The id of the scoring's own call, the same in every attempt. */
  callId: string
  traceId: string
  /** The version of the monitor that defined the task, where one did. */
  monitor?: { name: string; version_digest: string } | undefined
  signal: AbortSignal
}

/** Wire: tags and ratings, which feedback keeps in columns of their own. */
export type TypedScores = Pick<
  FeedbackCreateReq,
  | 'scorer_tags'
  | 'scorer_tag_reasons'
  | 'scorer_tag_confidences'
  | 'scorer_ratings'
  | 'scorer_rating_reasons'
  | 'scorer_rating_confidences'
>

/** What becomes one feedback. */
export interface ScoreResult {
  /** Of the scorer. */
  ref: string
  output: unknown
  typed?: TypedScores
}

/** Something that scores. */
export interface Scorer {
  /** The name under which results store its output. */
  name: string
  /** Of the object, or of the op that it is. */
  ref: string
  /** The op of the call that scoring is: the version that a client published with the scorer, or a placeholder. */
  opRef: string
  /** The name of the placeholder, which is published before the first call. */
  placeholder?: string | undefined
  /** @throws ClientError that says why this cannot be scored. */
  score(scored: Scored, context: ScoringContext): Promise<unknown>
  /** Its output as several feedback entries, where that is not the output alone. */
  results?(output: unknown): ScoreResult[]
}
