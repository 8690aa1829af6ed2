import type { Query } from '../../stores/trace-db/port.ts'
import { LATENCY_MS } from '../calls/sql/derived.ts'
import { selectionSql } from '../calls/sql/selected-calls.ts'
import type { Selection } from '../calls/sql/selection.ts'
import { readablePayload } from '../calls/sql/truncated.ts'
import type { Params } from '../query-language/params.ts'
import { type Aggregate, aggregateColumn } from '../stats/aggregates.ts'
import type { TimeBuckets } from '../stats/time-buckets.ts'
import type { CallMetric, TokenMetric } from './wire.ts'

/** A bucket that is not empty, counted from the first; `model` only for usage. */
export interface StatsRow {
  bucket: number
  model: string
  count: number
  aggregates: (number | null)[]
}

const INPUT = sumOf('prompt_tokens', 'input_tokens')
const OUTPUT = sumOf('completion_tokens', 'output_tokens')
const TOTAL = tokens('total_tokens')

/**
 * Usage of calls: `usage.1` is a model, `usage.2` the JSON of its counts. Wire: services name tokens differently. A
 * missing total is the sum of input and output, as in the usage of one call.
 */
const TOKENS: Record<TokenMetric, string> = {
  input_tokens: INPUT,
  output_tokens: OUTPUT,
  total_tokens: `coalesce(nullIf(${TOTAL}, 0), nullIf(${INPUT} + ${OUTPUT}, 0), ${TOTAL})`,
  cache_read_input_tokens: sumOf('cache_read_input_tokens'),
  cache_creation_input_tokens: sumOf('cache_creation_input_tokens'),
}

const CALLS: Record<CallMetric, string> = {
  latency_ms: LATENCY_MS,
  call_count: '1',
  error_count: `(ifNull(exception, '') != '')`,
}

export function tokenSql(metric: TokenMetric): string {
  return TOKENS[metric]
}

export function callSql(metric: CallMetric): string {
  return CALLS[metric]
}

/** What each model used in each bucket. */
export function selectUsage(work: Work): Query {
  return {
    sql: `SELECT bucket, usage.1 AS model, count() AS count, ${aggregateColumn(work.aggregates, 'none')} FROM (
        SELECT ${bucketColumn(work)}, JSONExtractKeysAndValuesRaw(${readablePayload('summary')}, 'usage') AS usages
        ${fromSelected(work)})
      ARRAY JOIN usages AS usage GROUP BY bucket, model`,
    params: work.params.values,
  }
}

/** Numbers of the calls in each bucket. */
export function selectCalls(work: Work): Query {
  return {
    sql: `SELECT ${bucketColumn(work)}, '' AS model, count() AS count, ${aggregateColumn(work.aggregates, 'none')}
      ${fromSelected(work)} GROUP BY bucket`,
    params: work.params.values,
  }
}

interface Work {
  selection: Selection
  buckets: TimeBuckets
  aggregates: readonly Aggregate[]
  params: Params
}

/** The database's own seconds since 1970 are a UInt32, but calls may have started before that, or after 2106. */
const STARTED_SECONDS = `dateDiff('second', toDateTime64('1970-01-01 00:00:00', 6, 'UTC'), started_at)`

function bucketColumn({ buckets, params }: Work): string {
  const first = params.bind(buckets.first, 'Int64')
  return `intDiv(${STARTED_SECONDS} - ${first}, ${params.bind(buckets.granularity, 'Int64')}) AS bucket`
}

/** The selected calls that started in the range. @throws 4xx for a query of fields that there are not */
function fromSelected({ selection, buckets, params }: Work): string {
  const [start, end] = [params.bind(buckets.start, 'String'), params.bind(buckets.end, 'String')]
  const { where, from } = selectionSql(selection, params)
  return `FROM ${from()} WHERE ${where}
    AND started_at >= parseDateTime64BestEffort(${start}, 6, 'UTC') AND started_at < parseDateTime64BestEffort(${end}, 6, 'UTC')`
}

function sumOf(...names: string[]): string {
  return `(${names.map((name) => `ifNull(${tokens(name)}, 0)`).join(' + ')})`
}

function tokens(name: string): string {
  return `toFloat64OrNull(JSONExtractRaw(usage.2, '${name}'))`
}
