import { z } from 'zod'
import { CallsFilter } from '../calls/messages/list-wire.ts'
import { Query } from '../query-language/wire.ts'
import { Aggregation, Bucket, Percentiles, statsRange, statsWindow } from '../stats/stats-wire.ts'

const aggregates = {
  aggregations: z.array(Aggregation).default(['sum']),
  percentiles: Percentiles.default([]),
}

export const TokenMetric = z.enum([
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
])
export type TokenMetric = z.output<typeof TokenMetric>

/** Wire: of costs there are only sums. */
export const CostMetric = z.enum(['input_cost', 'output_cost', 'total_cost'])

export const CallMetric = z.enum(['latency_ms', 'call_count', 'error_count'])
export type CallMetric = z.output<typeof CallMetric>

export const CallStatsReq = z.object({
  project_id: z.string(),
  ...statsRange,
  usage_metrics: z.array(z.object({ metric: z.union([TokenMetric, CostMetric]), ...aggregates })).nullish(),
  call_metrics: z.array(z.object({ metric: CallMetric, ...aggregates })).nullish(),
  filter: CallsFilter.nullish(),
  query: Query.nullish().meta({
    description: 'An extension: counts only calls for which this holds, as a query of /calls/stream_query',
  }),
})
export type CallStatsReq = z.output<typeof CallStatsReq>

/** Wire: usage is reported for each model, other metrics for all calls together. */
export const CallStatsRes = z.object({
  ...statsWindow,
  usage_buckets: z.array(Bucket),
  call_buckets: z.array(Bucket),
})
export type CallStatsRes = z.input<typeof CallStatsRes>
