import { invalidRequest, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { forEachYielding } from '../../yielding.ts'
import { collectReply } from '../collect-reply.ts'
import { createParams, type Params } from '../query-language/params.ts'
import { type Aggregate, aggregatesOf, type Metric } from '../stats/aggregates.ts'
import { checkReplySize } from '../stats/reply-size.ts'
import { shownBuckets } from '../stats/shown-buckets.ts'
import type { Aggregation } from '../stats/stats-wire.ts'
import { timeBuckets, timeRange } from '../stats/time-buckets.ts'
import { createPayloadPaths, stepsOf } from './payload-paths.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Wire: the granularity of a reply to a request without metrics. */
const GRANULARITY_OF_NOTHING = 3600

/** Buckets in one reply, of all groups together. */
const SCORE_BUCKETS_MAX = 100_000

/** Statistics of feedback. */
export interface FeedbackStats {
  stats(req: wire.FeedbackStatsReq, context: CallContext): Promise<wire.FeedbackStatsRes>
  payloadSchema(req: wire.PayloadSchemaReq, context: CallContext): Promise<wire.PayloadSchemaRes>
  aggregate(req: wire.FeedbackAggregateReq, context: CallContext): Promise<wire.FeedbackAggregateRes>
}

export function createFeedbackStats({ traces }: { traces: TraceDb }): FeedbackStats {
  async function stats(req: wire.FeedbackStatsReq, { signal }: CallContext): Promise<wire.FeedbackStatsRes> {
    const buckets = timeBuckets(req)
    const { start, end, granularity, timezone } = buckets
    if (req.metrics.length === 0)
      return { start, end, granularity: GRANULARITY_OF_NOTHING, timezone, buckets: [], window_stats: null }
    refuseSharedNames(req.metrics)
    const params = createParams()
    const aggregates = aggregatesOf(
      req.metrics.map((spec) => metricOf(spec, params)),
      params,
    )
    checkReplySize(buckets, aggregates)
    const work = { selection: { ...req, start, end }, aggregates, params }
    const rows = await rowsOf(traces.query<queries.BucketRow>(queries.selectBuckets(work, buckets), signal))
    const whole = traces.query<Pick<queries.BucketRow, 'aggregates'>>(queries.selectWindow(work), signal)
    return {
      start,
      end,
      granularity,
      timezone,
      buckets: await shownBuckets(buckets, aggregates, rows),
      window_stats: byMetric(aggregates, (await firstOf(whole))?.aggregates ?? []),
    }
  }

  async function payloadSchema(req: wire.PayloadSchemaReq, { signal }: CallContext) {
    const query = queries.selectSamples({ ...req, ...timeRange(req) }, req.sample_limit)
    const rows = traces.query<{ payload: string }>(query, signal)
    const samples = await collectReply(rows, ({ payload }) => payload.length)
    const paths = createPayloadPaths()
    // A payload may have a megabyte.
    await forEachYielding(samples, ({ payload }) => paths.add(JSON.parse(payload)))
    return { paths: paths.all() }
  }

  async function aggregate(
    req: wire.FeedbackAggregateReq,
    { signal }: CallContext,
  ): Promise<wire.FeedbackAggregateRes> {
    const { after_ms, before_ms } = req
    if (before_ms < after_ms) throw invalidRequest('before_ms must not be before after_ms')
    const groups = [...new Set(req.group_by ?? [])]
    const query = queries.selectScores(req, groups, SCORE_BUCKETS_MAX + 1)
    const rows = await rowsOf(traces.query<queries.ScoreRow>(query, signal))
    if (rows.length > SCORE_BUCKETS_MAX)
      throw tooLarge('The reply would be too large: ask for a shorter range or larger buckets')
    const time_bucket_seconds = req.time_bucket_seconds ?? null
    return {
      after_ms,
      before_ms,
      time_bucket_seconds,
      buckets: rows.map((row) => scoresOf(row, groups, time_bucket_seconds !== null)),
    }
  }

  return { stats, payloadSchema, aggregate }
}

/** Wire: the aggregations of a metric where the request names none. */
const DEFAULTS: Record<wire.ValueType, readonly Aggregation[]> = {
  numeric: ['avg', 'min', 'max'],
  boolean: ['count_true', 'count_false'],
  categorical: ['count'],
}

/**
 * Wire: percentiles are of numbers only, others are ignored. @throws 400 for an aggregation that the type does not
 * support.
 */
function metricOf(spec: wire.MetricSpec, params: Params): Metric {
  const { json_path, value_type, percentiles } = spec
  const path = stepsOf(json_path)
  if ('refusal' in path) throw invalidRequest(`json_path ${path.refusal}: ${json_path.slice(0, 100)}`)
  const aggregations = spec.aggregations.length === 0 ? DEFAULTS[value_type] : spec.aggregations
  if (value_type === 'categorical' && aggregations.some((kind) => kind !== 'count'))
    throw invalidRequest('Of a categorical metric there is only a count')
  return {
    name: nameOf(spec),
    sql: queries.leafSql(path.steps, value_type, params),
    aggregations,
    percentiles: value_type === 'numeric' ? percentiles : [],
  }
}

/** Wire: the name of a metric in replies. */
function nameOf({ json_path }: wire.MetricSpec): string {
  return json_path.trim().replaceAll(/[. ]/g, '_')
}

/** A reply has room for one metric of each name. @throws 400 for others */
function refuseSharedNames(specs: readonly wire.MetricSpec[]): void {
  const sources = new Map<string, string>()
  for (const spec of specs) {
    const [name, source] = [nameOf(spec), `${spec.json_path.trim()} (${spec.value_type})`]
    const other = sources.get(name) ?? source
    if (other !== source)
      throw invalidRequest(
        `Two metrics would both be named ${name.slice(0, 100)}: ${other.slice(0, 120)} and ${source.slice(0, 120)}`,
      )
    sources.set(name, source)
  }
}

function byMetric(
  aggregates: readonly Aggregate[],
  values: readonly (number | null)[],
): Record<string, Record<string, number | null>> {
  const described = aggregates.map(({ metric, kind }, index) => ({
    metric,
    entry: [kind, values[index] ?? null] as const,
  }))
  const metrics = Map.groupBy(described, ({ metric }) => metric)
  return Object.fromEntries(
    [...metrics].map(([metric, all]) => [metric, Object.fromEntries(all.map(({ entry }) => entry))]),
  )
}

function scoresOf(
  row: queries.ScoreRow,
  groups: readonly wire.GroupKey[],
  timed: boolean,
): wire.AggregateBucket {
  const { bucket, groups: values, rating_sums, ...counts } = row
  return {
    ...counts,
    time_bucket_start_ms: timed ? bucket : null,
    group: Object.fromEntries(groups.map((key, index) => [key, values[index] ?? ''])),
    rating_sums: Object.fromEntries(
      Object.keys(row.rating_counts).map((name) => [name, rating_sums[name] ?? 0]),
    ),
  }
}
