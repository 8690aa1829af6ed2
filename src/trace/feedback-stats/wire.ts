import { z } from 'zod'
import { Aggregation, Bucket, Percentiles, statsRange, statsWindow } from '../stats/stats-wire.ts'

/** Wire: triggers of which a payload is read to determine the fields; as many payloads without a trigger are read. */
const SAMPLE_LIMIT_DEFAULT = 2000
const SAMPLE_LIMIT_MAX = 5000

const ValueType = z.enum(['numeric', 'boolean', 'categorical'])
export type ValueType = z.output<typeof ValueType>

/** Wire: a `trigger_ref` that ends with `:*` is of any version. */
const selection = {
  project_id: z.string(),
  feedback_type: z.string().nullish(),
  trigger_ref: z.string().nullish(),
}

const MetricSpec = z.object({
  json_path: z.string(),
  value_type: ValueType.default('numeric'),
  aggregations: z.array(Aggregation).default([]),
  percentiles: Percentiles.default([]),
})
export type MetricSpec = z.output<typeof MetricSpec>

export const FeedbackStatsReq = z.object({
  ...selection,
  ...statsRange,
  metrics: z.array(MetricSpec).default([]),
})
export type FeedbackStatsReq = z.output<typeof FeedbackStatsReq>

/** `window_stats` are those of the whole range: by metric, then by aggregation. */
export const FeedbackStatsRes = z.object({
  ...statsWindow,
  buckets: z.array(Bucket),
  window_stats: z.record(z.string(), z.record(z.string(), z.number().nullable())).nullable(),
})
export type FeedbackStatsRes = z.input<typeof FeedbackStatsRes>

export const PayloadSchemaReq = z.object({
  ...selection,
  start: statsRange.start,
  end: statsRange.end,
  sample_limit: z.int().min(1).max(SAMPLE_LIMIT_MAX).default(SAMPLE_LIMIT_DEFAULT),
})
export type PayloadSchemaReq = z.output<typeof PayloadSchemaReq>

/** The type is null where nothing but null was seen. */
const PayloadPath = z
  .object({ json_path: z.string(), value_type: ValueType.nullable() })
  .meta({ id: 'FeedbackPayloadPath' })
export type PayloadPath = z.output<typeof PayloadPath>
export const PayloadSchemaRes = z.object({ paths: z.array(PayloadPath) })
export type PayloadSchemaRes = z.input<typeof PayloadSchemaRes>

export const GroupKey = z.enum(['scorer_id', 'span_agent_name', 'span_agent_version', 'span_status_code'])
export type GroupKey = z.output<typeof GroupKey>

const NullishStrings = z.array(z.string()).nullish()

/** Wire: times are milliseconds since 1970; ids that end with `*` are prefixes, and types always are. */
export const FeedbackAggregateReq = z.object({
  project_id: z.string(),
  after_ms: z.int().nonnegative(),
  before_ms: z.int().nonnegative(),
  time_bucket_seconds: z.int().positive().nullish(),
  group_by: z.array(GroupKey).nullish(),
  feedback_types: NullishStrings,
  scorer_ids: NullishStrings,
  monitor_ids: NullishStrings,
  span_agent_names: NullishStrings,
  span_types: z.array(z.enum(['agent_turn', 'agent_conversation'])).nullish(),
  tags: NullishStrings,
  rating_min: z.number().nullish(),
  rating_max: z.number().nullish(),
})
export type FeedbackAggregateReq = z.output<typeof FeedbackAggregateReq>

/** Wire: averages are for the client to make; `scored_count` counts feedback with any tag or rating. */
const AggregateBucket = z
  .object({
    time_bucket_start_ms: z.int().nullable(),
    group: z.record(z.string(), z.string()),
    total_count: z.int(),
    scored_count: z.int(),
    tag_counts: z.record(z.string(), z.int()),
    rating_counts: z.record(z.string(), z.int()),
    rating_sums: z.record(z.string(), z.number()),
  })
  .meta({ id: 'FeedbackAggregateBucket' })
export type AggregateBucket = z.output<typeof AggregateBucket>

/** Wire: buckets in which nothing happened are left out. */
export const FeedbackAggregateRes = z.object({
  after_ms: z.int(),
  before_ms: z.int(),
  time_bucket_seconds: z.int().nullable(),
  buckets: z.array(AggregateBucket),
})
export type FeedbackAggregateRes = z.input<typeof FeedbackAggregateRes>
