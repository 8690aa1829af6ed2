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

/** Every aggregate of the metrics, each once. @throws 400 for invalid percentiles. */
export function aggregatesOf(metrics: readonly Metric[], params: Params): Aggregate[] {
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
  return [...new Map(all.map((aggregate) => [aggregate.name, aggregate])).values()]
}

/** SQL for the aggregates as one array, so that no client's name enters the text. */
export function aggregateColumn(aggregates: readonly Aggregate[]): string {
  return `[${aggregates.map(({ sql }) => `CAST(${sql}, 'Nullable(Float64)')`).join(', ')}] AS aggregates`
}

/** The aggregates by name, of a row that {@link aggregateColumn} made or of none. */
export function namedAggregates(
  aggregates: readonly Aggregate[],
  values: readonly (number | null)[] | undefined,
): Record<string, number | null> {
  return Object.fromEntries(aggregates.map(({ name, none }, index) => [name, values?.[index] ?? none]))
}
