import { z } from 'zod'
import { CallsFilter } from '../calls/messages/list-wire.ts'
import { Query } from '../query-language/wire.ts'

/** Wire: calls that are read by default. */
const LIMIT_DEFAULT = 10_000

/** All calls that are read are in memory together. */
const LIMIT_MAX = 200_000

const common = {
  project_id: z.string(),
  include_costs: z.boolean().nullish(),
  limit: z.int().nonnegative().max(LIMIT_MAX).default(LIMIT_DEFAULT),
}

export const TraceUsageReq = z.object({ ...common, filter: CallsFilter.nullish(), query: Query.nullish() })
export type TraceUsageReq = z.output<typeof TraceUsageReq>

export const CallsUsageReq = z.object({ ...common, call_ids: z.array(z.string()) })
export type CallsUsageReq = z.output<typeof CallsUsageReq>

/** What a call and everything below it used of one model. Wire: costs are null unless requested. */
const ModelUsage = z
  .object({
    requests: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    cache_read_input_tokens: z.int(),
    cache_creation_input_tokens: z.int(),
    prompt_tokens_total_cost: z.number().nullable(),
    completion_tokens_total_cost: z.number().nullable(),
    cache_read_input_tokens_total_cost: z.number().nullable(),
    cache_creation_input_tokens_total_cost: z.number().nullable(),
  })
  .meta({ id: 'AggregatedUsage' })
export type ModelUsage = z.output<typeof ModelUsage>

/** By call and then by model. */
export const UsageRes = z.object({
  call_usage: z.record(z.string(), z.record(z.string(), ModelUsage)),
  unfinished_call_ids: z.array(z.string()),
})
export type UsageRes = z.input<typeof UsageRes>
