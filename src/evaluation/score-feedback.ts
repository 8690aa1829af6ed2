import { JsonText, stringify } from '../lossless-json.ts'
import type { FeedbackCreateReq } from '../trace/feedback/wire.ts'
import { callRef, parseRef } from '../trace/refs/ref-uri.ts'
import type { Scorer } from './scorers/scorer.ts'

/** What a scorer said of a call, as the feedback that clients write themselves. Wire: its type is named after the ref. */
export function scoreFeedback(score: {
  id: string
  project_id: string
  /** The call that was scored. */
  scoredId: string
  /** The call that scoring was, where it was one. */
  callId: string | undefined
  scorer: Scorer
  output: unknown
  /** The monitor that wanted it. */
  triggerRef?: string | null
}): FeedbackCreateReq {
  const { id, project_id, scorer, output } = score
  return {
    id,
    project_id,
    weave_ref: callRef(project_id, score.scoredId),
    feedback_type: `wandb.runnable.${parseRef(scorer.ref).name}`,
    payload: new JsonText(stringify({ output })),
    runnable_ref: scorer.ref,
    call_ref: score.callId === undefined ? undefined : callRef(project_id, score.callId),
    trigger_ref: score.triggerRef,
  }
}
