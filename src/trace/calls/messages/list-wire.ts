import { z } from 'zod'
import { Query, SortKeys } from '../../query-language/wire.ts'

const NullishStrings = z.array(z.string()).nullish()

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
  sort_by: SortKeys.nullish(),
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
