import { JsonText, stringify } from '../../lossless-json.ts'
import { checkSize } from '../../trace/feedback/payload.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import { callRef, parseRef } from '../../trace/ref-uri.ts'
import type { AgentTurn } from './agent-turn.ts'
import type { ScoreResult } from './scorer.ts'

/**
 * A scorer's results for a call, as the feedback that clients write themselves. Wire: its type is named after the ref.
 * @throws 400 for results that are too large for feedback
 */
export function scoreFeedback(score: {
  id: string
  project_id: string
  /** The call that was scored. */
  scoredId: string
  /** The call of the scoring, where it has one. */
  callId: string | undefined
  result: ScoreResult
  /** The agent turn that was scored. */
  turn?: AgentTurn | undefined
  /** The monitor that defined the task. */
  triggerRef?: string | null
}): FeedbackCreateReq {
  const { id, project_id, result } = score
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
