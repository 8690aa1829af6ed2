import { derivedId } from '../../ids.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { checkSize } from '../../trace/feedback/payload.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import { callRef, parseRef } from '../../trace/ref-uri.ts'
import type { AgentTurn } from './agent-turn.ts'
import type { ScoreResult, Scorer } from './scorer.ts'

/** A score of a call. */
interface Score {
  /** Of its feedback; where that are several, of the first, and theirs are derived from it. */
  id: string
  project_id: string
  scorer: Pick<Scorer, 'ref' | 'results'>
  /** What the scorer has put out. */
  output: unknown
  /** The call that was scored. */
  scoredId: string
  /** The call of the scoring, where it has one. */
  callId: string | undefined
  /** The agent turn that was scored. */
  turn?: AgentTurn | undefined
  /** The monitor that defined the task. */
  triggerRef?: string | null
}

/**
 * A scorer's results for a call, as the feedback that clients write themselves. Wire: its type is named after the ref.
 * @throws 400 for results that are too large for feedback
 */
export function scoreFeedback(score: Score): FeedbackCreateReq[] {
  const { id, scorer, output } = score
  const results = scorer.results?.(output) ?? [{ ref: scorer.ref, output }]
  return results.map((result, index) =>
    feedbackOf(result, { ...score, id: index === 0 ? id : derivedId(id, `said/${index}`) }),
  )
}

function feedbackOf(result: ScoreResult, score: Score): FeedbackCreateReq {
  const { id, project_id } = score
  const feedback = {
    id,
    project_id,
    weave_ref: callRef(project_id, score.scoredId),
    feedback_type: `wandb.runnable.${parseRef(result.ref).name}`,
    payload: new JsonText(stringify({ output: result.output })),
    runnable_ref: result.ref,
    call_ref: score.callId === undefined ? undefined : callRef(project_id, score.callId),
    trigger_ref: score.triggerRef,
    ...result.typed,
    ...(score.turn && spanFields(score.turn)),
  }
  checkSize(feedback)
  return feedback
}

/** Wire: signals of agents are filtered by these. */
function spanFields({ agent, status, conversation, trace_id }: AgentTurn): Partial<FeedbackCreateReq> {
  return {
    span_agent_name: agent.name,
    span_agent_version: agent.version,
    span_status_code: status.code,
    span_conversation_id: conversation.id,
    span_trace_id: trace_id,
  }
}
