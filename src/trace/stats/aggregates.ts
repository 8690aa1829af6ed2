import { invalidRequest } from '../../errors.ts'
import type { Params } from '../query-language/params.ts'
import type { Aggregation } from './stats-wire.ts'

/** A number to aggregate: `sql`, NULL where a row has none. */
export interface Metric {
  name: string
  sql: string
  aggregations: readonly Aggregation[]
  percentiles: readonly number[]
}

/** One aggregate number. */
export interface Aggregate {
  /** Wire: `sum_latency_ms`, `p95_latency_ms`. */
  name: string
  kind: string
  metric: string
  sql: string
  /** Wire: without any value, counts, sums and averages are 0 and the rest null. */
  none: 0 | null
}

const FUNCTIONS: Record<Aggregation, (sql: string) => string> = {
  sum: (sql) => `sumOrNull(${sql})`,
  avg: (sql) => `avgOrNull(${sql})`,
  min: (sql) => `minOrNull(${sql})`,
  max: (sql) => `maxOrNull(${sql})`,
  count: (sql) => `count(${sql})`,
  count_true: (sql) => `countIf(${sql} = 1)`,
  count_false: (sql) => `countIf(${sql} = 0)`,
}

const NULL_WHERE_NOTHING = new Set<Aggregation>(['min', 'max'])

/** Numbers of one bucket: the database refuses twice as many, after seconds. */
const AGGREGATES_MAX = 1000

/**
 * Every aggregate of the metrics, each once. @throws 400 for invalid percentiles, for too many aggregates, and for two
 * metrics with an aggregate of one name, as `count` of `true_a` and `count_true` of `a` are.
 */
export function aggregatesOf(metrics: readonly Metric[], params: Params): Aggregate[] {
  const count = metrics.reduce((sum, one) => sum + one.aggregations.length + one.percentiles.length, 0)
  if (count > AGGREGATES_MAX) throw invalidRequest(`At most ${AGGREGATES_MAX} aggregates at once`)
  const all = metrics.flatMap(({ name, sql, aggregations, percentiles }) => [
    ...aggregations.map((kind): Aggregate => {
      const none = NULL_WHERE_NOTHING.has(kind) ? null : 0
      return { name: `${kind}_${name}`, kind, metric: name, sql: FUNCTIONS[kind](sql), none }
    }),
    ...percentiles.map((percentile): Aggregate => {
      if (percentile < 0 || percentile > 100) throw invalidRequest(`There is no percentile ${percentile}`)
      const level = params.bind(percentile / 100, 'Float64')
      const kind = `p${percentile}`
      return {
        name: `${kind}_${name}`,
        kind,
        metric: name,
        sql: `quantileOrNull(${level})(${sql})`,
        none: null,
      }
    }),
  ])
  const byName = new Map<string, Aggregate>()
  for (const aggregate of all) {
    const { name, metric } = aggregate
    const other = byName.get(name)?.metric ?? metric
    if (other !== metric)
      throw invalidRequest(
        `The metrics ${other.slice(0, 100)} and ${metric.slice(0, 100)} have aggregates of one name`,
      )
    byName.set(name, aggregate)
  }
  return [...byName.values()]
}

/**
 * SQL for the aggregates as one array, so that no client's name enters the text. Where no row has a value, they are
 * their `none` or all null; a number that is too large for JSON is null in either case.
 */
export function aggregateColumn(aggregates: readonly Aggregate[], empty: 'none' | 'null'): string {
  const columns = aggregates.map(({ sql, none }) => {
    const nullable = `CAST(${sql}, 'Nullable(Float64)')`
    return empty === 'none' && none === 0 ? `ifNull(${nullable}, 0)` : nullable
  })
  return `[${columns.join(', ')}] AS aggregates`
}

/** The aggregates by name, of a row that {@link aggregateColumn} made with `none`, or of no row. */
export function namedAggregates(
  aggregates: readonly Aggregate[],
  values: readonly (number | null)[] | undefined,
): Record<string, number | null> {
  return Object.fromEntries(
    aggregates.map(({ name, none }, index) => [name, values === undefined ? none : (values[index] ?? null)]),
  )
}
