import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { forEachYielding } from '../../yielding.ts'
import { type Price, priceAt } from '../costs/prices.ts'
import type { Costs } from '../costs/service.ts'
import { createParams } from '../query-language/params.ts'
import { aggregatesOf, type Metric, namedAggregates } from '../stats/aggregates.ts'
import { checkReplySize } from '../stats/reply-size.ts'
import { shownBuckets } from '../stats/shown-buckets.ts'
import type { Bucket } from '../stats/stats-wire.ts'
import { type TimeBuckets, timeBuckets, timestamps } from '../stats/time-buckets.ts'
import * as queries from './queries.ts'
import * as wire from './wire.ts'

/** Calls, and the tokens they used, over time. */
export interface CallStats {
  /** @throws 413 for more numbers than a reply may have, 4xx for a query of fields that there are not */
  stats(req: wire.CallStatsReq, context: CallContext): Promise<wire.CallStatsRes>
}

export function createCallStats({
  traces,
  costs,
}: {
  traces: TraceDb
  costs: Pick<Costs, 'priceLists'>
}): CallStats {
  async function usageBuckets(req: wire.CallStatsReq, work: Work): Promise<Bucket[]> {
    const params = createParams()
    const aggregates = aggregatesOf(tokenMetrics(req), params)
    if (aggregates.length === 0) return []
    checkReplySize(work.buckets, aggregates)
    const query = queries.selectUsage({ ...work, selection: req, aggregates, params })
    const found = new Map<string, Map<number, queries.StatsRow>>()
    let chars = 0
    for await (const row of traces.query<queries.StatsRow>(query, work.signal)) {
      let ofModel = found.get(row.model)
      if (ofModel === undefined) {
        ofModel = new Map()
        found.set(row.model, ofModel)
        chars += row.model.length
        checkReplySize(work.buckets, aggregates, { count: found.size, chars })
      }
      ofModel.set(row.bucket, row)
    }
    const models = [...found.keys()].sort()
    const prices = await pricesNow(req, models)
    const shown: Bucket[] = []
    await forEachYielding(cellsOf(work.buckets, models), ({ timestamp, bucket, model }) => {
      const row = found.get(model)?.get(bucket)
      const sums = namedAggregates(aggregates, row?.aggregates)
      const costs = costsOf(req, sums, prices.get(model))
      shown.push({ timestamp, model, ...sums, ...costs, count: row?.count ?? 0 })
    })
    return shown
  }

  async function callBuckets(req: wire.CallStatsReq, work: Work): Promise<Bucket[]> {
    const params = createParams()
    const aggregates = aggregatesOf(callMetrics(req), params)
    if (aggregates.length === 0) return []
    checkReplySize(work.buckets, aggregates)
    const query = queries.selectCalls({ ...work, selection: req, aggregates, params })
    const rows = await rowsOf(traces.query<queries.StatsRow>(query, work.signal))
    return shownBuckets(work.buckets, aggregates, rows)
  }

  /** Wire: costs of tokens use today's prices, whatever the time of use. */
  async function pricesNow(
    req: wire.CallStatsReq,
    models: readonly string[],
  ): Promise<Map<string, Price | undefined>> {
    if (costMetrics(req).length === 0) return new Map()
    const now = nowIso()
    const lists = await costs.priceLists(req.project_id, models)
    return new Map([...lists].map(([model, list]) => [model, priceAt(list, now)]))
  }

  return {
    async stats(req, { signal }) {
      const buckets = timeBuckets(req)
      const { start, end, granularity, timezone } = buckets
      const usage_buckets = await usageBuckets(req, { buckets, signal })
      const call_buckets = await callBuckets(req, { buckets, signal })
      return { start, end, granularity, timezone, usage_buckets, call_buckets }
    },
  }
}

interface Work {
  buckets: TimeBuckets
  signal: AbortSignal
}

/** Every bucket of every model, by time. */
function* cellsOf(buckets: TimeBuckets, models: readonly string[]) {
  for (const [bucket, timestamp] of timestamps(buckets).entries())
    for (const model of models) yield { timestamp, bucket, model }
}

type UsageMetric = NonNullable<wire.CallStatsReq['usage_metrics']>[number]

/** The parts of costs; wire: their sums are returned with the costs. */
const PAID_TOKENS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const

function tokenMetrics(req: wire.CallStatsReq): Metric[] {
  const asked = (req.usage_metrics ?? []).flatMap((spec): Metric[] => {
    const metric = wire.TokenMetric.safeParse(spec.metric).data
    return metric === undefined ? [] : [metricOf(spec, queries.tokenSql(metric))]
  })
  if (costMetrics(req).length === 0) return asked
  const paid = PAID_TOKENS.map((name) =>
    metricOf({ metric: name, aggregations: ['sum'], percentiles: [] }, queries.tokenSql(name)),
  )
  return [...asked, ...paid]
}

function callMetrics(req: wire.CallStatsReq): Metric[] {
  return (req.call_metrics ?? []).map((spec) => metricOf(spec, queries.callSql(spec.metric)))
}

/** Wire: a metric without any aggregate is summed. */
function metricOf(
  spec: Omit<UsageMetric, 'metric'> & { metric: wire.CallMetric | UsageMetric['metric'] },
  sql: string,
): Metric {
  const { metric: name, percentiles } = spec
  const bare = spec.aggregations.length === 0 && percentiles.length === 0
  return { name, sql, aggregations: bare ? ['sum'] : spec.aggregations, percentiles }
}

function costMetrics(req: wire.CallStatsReq): string[] {
  const asked = (req.usage_metrics ?? []).map(({ metric }) => wire.CostMetric.safeParse(metric).data)
  return asked.filter((metric) => metric !== undefined)
}

/** Wire: cached tokens are among the input and have prices of their own; tokens without a price cost nothing. */
function costsOf(
  req: wire.CallStatsReq,
  sums: Record<string, number | null>,
  price: Price | undefined,
): Record<string, number> {
  const wanted = costMetrics(req)
  if (wanted.length === 0) return {}
  const [input = 0, output = 0, read = 0, creation = 0] = PAID_TOKENS.map((name) => sums[`sum_${name}`] ?? 0)
  const input_cost = Math.max(0, input - read - creation) * (price?.prompt_token_cost ?? 0)
  const output_cost = output * (price?.completion_token_cost ?? 0)
  const cache_cost =
    read * (price?.cache_read_input_token_cost ?? 0) +
    creation * (price?.cache_creation_input_token_cost ?? 0)
  const all = { input_cost, output_cost, total_cost: input_cost + output_cost + cache_cost }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, cost]) => (wanted.includes(name) ? [[`sum_${name}`, cost]] : [])),
  )
}
