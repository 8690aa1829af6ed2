import { z } from 'zod'
import { AnyJson, JsonObject } from '../../json-text-wire.ts'
import { Query, SortBy } from '../query-language/wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })
const NullishString = z.string().nullish()
const NullishStrings = z.array(z.string()).nullish()
const Step = z.int().nonnegative().nullish()

export const CallStart = z
  .object({
    project_id: z.string(),
    id: NullishString,
    trace_id: NullishString,
    op_name: z.string(),
    display_name: NullishString,
    parent_id: NullishString,
    thread_id: NullishString,
    turn_id: NullishString,
    started_at: DateTime,
    attributes: JsonObject,
    inputs: JsonObject,
    otel_dump: JsonObject.nullish(),
    wb_run_id: NullishString,
    wb_run_step: Step,
  })
  .meta({ id: 'CallStart' })
export type CallStart = z.output<typeof CallStart>

export const CallEnd = z
  .object({
    project_id: z.string(),
    id: z.string(),
    ended_at: DateTime,
    exception: NullishString,
    output: AnyJson.nullish(),
    summary: JsonObject,
    wb_run_step_end: Step,
    started_at: DateTime.nullish(),
    trace_id: NullishString,
  })
  .meta({ id: 'CallEnd' })
export type CallEnd = z.output<typeof CallEnd>

export const CallComplete = z
  .object({ ...CallStart.shape, ...CallEnd.shape, trace_id: z.string(), started_at: DateTime })
  .meta({ id: 'CallComplete' })
export type CallComplete = z.output<typeof CallComplete>

export const Empty = z.object({})

export const CallStartReq = z.object({ start: CallStart })
export type CallStartReq = z.output<typeof CallStartReq>
export const CallStartRes = z.object({ id: z.string(), trace_id: z.string() }).meta({ id: 'CallStartRes' })

export const CallEndReq = z.object({ end: CallEnd })
export type CallEndReq = z.output<typeof CallEndReq>

export const CallUpsertBatchReq = z.object({
  batch: z.array(
    z.discriminatedUnion('mode', [
      z.object({ mode: z.literal('start'), req: CallStartReq }),
      z.object({ mode: z.literal('end'), req: CallEndReq }),
    ]),
  ),
})
export type CallUpsertBatchReq = z.output<typeof CallUpsertBatchReq>
export const CallUpsertBatchRes = z.object({ res: z.array(z.union([CallStartRes, Empty])) })

/** Wire: in the v2 routes items may leave the project out; the path wins in any case. */
const inPath = { project_id: NullishString }
export const CallsCompleteReq = z.object({ batch: z.array(CallComplete.extend(inPath)) })
export type CallsCompleteReq = z.output<typeof CallsCompleteReq>
export const CallStartV2Req = z.object({ start: CallStart.extend(inPath) })
export type CallStartV2Req = z.output<typeof CallStartV2Req>
export const CallEndV2Req = z.object({ end: CallEnd.extend(inPath) })
export type CallEndV2Req = z.output<typeof CallEndV2Req>

export const Call = z
  .object({
    id: z.string(),
    project_id: z.string(),
    op_name: z.string(),
    display_name: z.string().nullable(),
    trace_id: z.string(),
    parent_id: z.string().nullable(),
    thread_id: z.string().nullable(),
    turn_id: z.string().nullable(),
    started_at: DateTime,
    ended_at: DateTime.nullable(),
    exception: z.string().nullable(),
    attributes: JsonObject,
    inputs: JsonObject,
    output: AnyJson.nullable(),
    summary: JsonObject,
    wb_user_id: z.string().nullable(),
    wb_username: z.string().optional(),
    wb_run_id: z.string().nullable(),
    wb_run_step: z.int().nullable(),
    wb_run_step_end: z.int().nullable(),
    deleted_at: DateTime.nullable(),
    expire_at: DateTime.nullable(),
    storage_size_bytes: z.int().nullable(),
    total_storage_size_bytes: z.int().nullable(),
  })
  .meta({ id: 'Call' })
export type Call = z.output<typeof Call>

export const CallReadReq = z.object({
  project_id: z.string(),
  id: z.string(),
  include_costs: z.boolean().nullish(),
  include_storage_size: z.boolean().nullish(),
  include_total_storage_size: z.boolean().nullish(),
})
export type CallReadReq = z.output<typeof CallReadReq>
export const CallReadRes = z.object({ call: Call.nullable() })

export const CallUpdateReq = z.object({
  project_id: z.string(),
  call_id: z.string(),
  display_name: NullishString,
})
export type CallUpdateReq = z.output<typeof CallUpdateReq>

export const CallsDeleteReq = z.object({ project_id: z.string(), call_ids: z.array(z.string()) })
export type CallsDeleteReq = z.output<typeof CallsDeleteReq>
export const CallsDeleteRes = z.object({ num_deleted: z.int() })

export const CallsFilter = z
  .object({
    op_names: NullishStrings,
    input_refs: NullishStrings,
    output_refs: NullishStrings,
    parent_ids: NullishStrings,
    trace_ids: NullishStrings,
    call_ids: NullishStrings,
    thread_ids: NullishStrings,
    turn_ids: NullishStrings,
    trace_roots_only: z.boolean().nullish(),
    wb_user_ids: NullishStrings,
    wb_run_ids: NullishStrings,
  })
  .meta({ id: 'CallsFilter' })
export type CallsFilter = z.output<typeof CallsFilter>

const selection = {
  project_id: z.string(),
  filter: CallsFilter.nullish(),
  query: Query.nullish(),
  limit: z.int().nullish(),
  expand_columns: NullishStrings,
}

export const CallsStreamQueryReq = z.object({
  ...selection,
  offset: z.int().nullish(),
  sort_by: z.array(SortBy).nullish(),
  columns: NullishStrings,
  include_costs: z.boolean().nullish(),
  include_feedback: z.boolean().nullish(),
  include_storage_size: z.boolean().nullish(),
  include_total_storage_size: z.boolean().nullish(),
  include_usernames: z.boolean().nullish(),
  return_expanded_column_values: z.boolean().nullish(),
})
export type CallsStreamQueryReq = z.output<typeof CallsStreamQueryReq>

export const CallsQueryStatsReq = z.object({
  ...selection,
  include_total_storage_size: z.boolean().nullish(),
})
export type CallsQueryStatsReq = z.output<typeof CallsQueryStatsReq>
export const CallsQueryStatsRes = z.object({
  count: z.int(),
  total_storage_size_bytes: z.int().nullable(),
  has_more: z.boolean().nullable(),
})
