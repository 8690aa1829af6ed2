import { z } from 'zod'
import { recordOf } from '../../wire/bounded-wire.ts'
import { AnyJson, JsonObject } from '../../wire/json-text-wire.ts'
import { Query, RowsQueryReq } from '../query-language/wire.ts'

const NullishString = z.string().nullish()

/** Tags or ratings of one scorer, which has some. */
const SCORES_MAX = 1_000
const Texts = recordOf(z.string(), SCORES_MAX).nullish()
const Numbers = recordOf(z.number(), SCORES_MAX).nullish()

/** Wire: newer clients send these with every feedback, mostly empty. */
const scorerFields = {
  scorer_tags: z.array(z.string()).nullish(),
  scorer_tag_reasons: Texts,
  scorer_tag_confidences: Numbers,
  scorer_ratings: Numbers,
  scorer_rating_reasons: Texts,
  scorer_rating_confidences: Numbers,
  scorer_trace_id: NullishString,
  span_agent_name: NullishString,
  span_agent_version: NullishString,
  span_status_code: NullishString,
  span_conversation_id: NullishString,
  span_trace_id: NullishString,
}

export const FeedbackCreateReq = z
  .object({
    id: NullishString,
    project_id: z.string(),
    weave_ref: z.string(),
    creator: NullishString,
    feedback_type: z.string(),
    payload: JsonObject,
    annotation_ref: NullishString,
    runnable_ref: NullishString,
    call_ref: NullishString,
    trigger_ref: NullishString,
    queue_id: NullishString,
    ...scorerFields,
  })
  .meta({ id: 'FeedbackCreateReq' })
export type FeedbackCreateReq = z.output<typeof FeedbackCreateReq>

export const FeedbackCreateRes = z
  .object({ id: z.string(), created_at: z.string(), wb_user_id: z.string(), payload: JsonObject })
  .meta({ id: 'FeedbackCreateRes' })
export type FeedbackCreateRes = z.input<typeof FeedbackCreateRes>

export const FeedbackCreateBatchReq = z.object({ batch: z.array(FeedbackCreateReq) })
export type FeedbackCreateBatchReq = z.output<typeof FeedbackCreateBatchReq>
export const FeedbackCreateBatchRes = z.object({ res: z.array(FeedbackCreateRes) })
export type FeedbackCreateBatchRes = z.input<typeof FeedbackCreateBatchRes>

export const FeedbackReplaceReq = z.object({ ...FeedbackCreateReq.shape, feedback_id: z.string() })
export type FeedbackReplaceReq = z.output<typeof FeedbackReplaceReq>

export const FeedbackQueryReq = RowsQueryReq
export type FeedbackQueryReq = z.output<typeof FeedbackQueryReq>

/** Wire: a row has exactly the requested fields, under the requested names. */
const FeedbackRow = z.record(z.string(), AnyJson.nullable()).meta({ id: 'FeedbackRow' })
export const FeedbackQueryRes = z.object({ result: z.array(FeedbackRow), total_count: z.int() })
export type FeedbackQueryRes = z.input<typeof FeedbackQueryRes>

export const FeedbackPurgeReq = z.object({ project_id: z.string(), query: Query })
export type FeedbackPurgeReq = z.output<typeof FeedbackPurgeReq>
export const FeedbackPurgeRes = z.object({})
export type FeedbackPurgeRes = z.input<typeof FeedbackPurgeRes>
