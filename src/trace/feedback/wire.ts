import { z } from 'zod'
import { AnyJson, JsonObject } from '../../json-text-wire.ts'
import { Query, SortBy } from '../query-language/wire.ts'

const NullishString = z.string().nullish()

export const FeedbackCreateReq = z
  .object({
    id: NullishString,
    project_id: z.string(),
    weave_ref: z.string(),
    feedback_type: z.string(),
    payload: JsonObject,
    annotation_ref: NullishString,
    runnable_ref: NullishString,
    call_ref: NullishString,
    trigger_ref: NullishString,
    queue_id: NullishString,
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

export const FeedbackReplaceReq = z.object({ ...FeedbackCreateReq.shape, feedback_id: z.string() })
export type FeedbackReplaceReq = z.output<typeof FeedbackReplaceReq>

export const FeedbackQueryReq = z.object({
  project_id: z.string(),
  fields: z.array(z.string()).nullish(),
  query: Query.nullish(),
  sort_by: z.array(SortBy).nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
})
export type FeedbackQueryReq = z.output<typeof FeedbackQueryReq>

/** Wire: a row has exactly the fields that were asked for, under the names they were asked by. */
const FeedbackRow = z.record(z.string(), AnyJson.nullable()).meta({ id: 'FeedbackRow' })
export const FeedbackQueryRes = z.object({ result: z.array(FeedbackRow), total_count: z.int() })

export const FeedbackPurgeReq = z.object({ project_id: z.string(), query: Query })
export type FeedbackPurgeReq = z.output<typeof FeedbackPurgeReq>
export const FeedbackPurgeRes = z.object({})
