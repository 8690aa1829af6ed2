import { invalidRequest } from '../../errors.ts'
import type { Query } from '../../stores/trace-db/port.ts'
import { createParams, type Params } from '../query-language/params.ts'
import { readableJson } from '../query-language/readable-json.ts'
import { type Aggregate, aggregateColumn } from '../stats/aggregates.ts'
import type { TimeBuckets } from '../stats/time-buckets.ts'
import type { FeedbackAggregateReq, GroupKey, ValueType } from './wire.ts'

/** The feedback that counts: of a project, from `start` to before `end`. */
export interface Selection {
  project_id: string
  start: string
  end: string
  feedback_type?: string | null | undefined
  trigger_ref?: string | null | undefined
}

export interface BucketRow {
  bucket: number
  count: number
  aggregates: (number | null)[]
}

interface Work {
  selection: Selection
  aggregates: readonly Aggregate[]
  params: Params
}

/** Tags and ratings of scorers, which are stored beside the payload, by name. */
const SCORER_MAPS: readonly string[] = [
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
]

/**
 * The leaf of a payload as a number: itself, 1 and 0 for true and false, or 1 for any value of a category; else NULL. A
 * path that begins with a member stored beside the payload means that member where it has the name.
 */
export function leafSql(path: readonly string[], type: ValueType, params: Params): string {
  const raw = rawSql(path, params)
  switch (type) {
    case 'numeric':
      return `toFloat64OrNull(${raw})`
    case 'boolean':
      return `multiIf(${raw} = 'true', 1, ${raw} = 'false', 0, NULL)`
    case 'categorical':
      return `if(${raw} IN ('', 'null'), NULL, 1)`
  }
}

function rawSql(path: readonly string[], params: Params): string {
  const steps = path.map((step) => params.bind(step, 'String'))
  const inPayload = `JSONExtractRaw(${[readableJson('payload'), ...steps].join(', ')})`
  const [column = '', name] = path
  const bound = steps[1]
  if (column === 'scorer_trace_id' && path.length === 1)
    return `if(${column} != '', toJSONString(${column}), ${inPayload})`
  if (!SCORER_MAPS.includes(column) || name === undefined || path.length !== 2) return inPayload
  return `if(mapContains(${column}, ${bound}), toJSONString(${column}[${bound}]), ${inPayload})`
}

export function selectBuckets({ selection, aggregates, params }: Work, buckets: TimeBuckets): Query {
  const first = params.bind(buckets.first, 'Int64')
  const granularity = params.bind(buckets.granularity, 'Int64')
  return {
    sql: `SELECT intDiv(toUnixTimestamp(created_at) - ${first}, ${granularity}) AS bucket, count() AS count,
        ${aggregateColumn(aggregates, 'none')}
      FROM feedback FINAL WHERE ${conditions(selection, params)} GROUP BY bucket`,
    params: params.values,
  }
}

/** The same for all of the range together. */
export function selectWindow({ selection, aggregates, params }: Work): Query {
  return {
    sql: `SELECT ${aggregateColumn(aggregates, 'null')} FROM feedback FINAL WHERE ${conditions(selection, params)}`,
    params: params.values,
  }
}

/**
 * Payloads without a trigger that are read for their paths: thousands of usual size, which are parsed in some hundred
 * milliseconds.
 */
const SAMPLED_BYTES_MAX = 8 * 1024 * 1024

/**
 * The newest payload of each of up to `limit` triggers, and up to `limit` of the newest without a trigger. Wire: the
 * payloads of one trigger have one shape; those without may have any.
 */
export function selectSamples(selection: Selection, limit: number): Query {
  const params = createParams()
  const where = conditions(selection, params)
  const most = params.bind(limit, 'UInt64')
  const newest = `SELECT weave_ref, id, created_at, length(payload) AS bytes FROM feedback FINAL
    WHERE ${where} AND trigger_ref IS NULL ORDER BY created_at DESC, id DESC LIMIT ${most}`
  const added = `SELECT weave_ref, id, sum(bytes) OVER (ORDER BY created_at DESC, id DESC) AS total FROM (${newest})`
  return {
    sql: `SELECT argMax(payload, (created_at, id)) AS payload FROM feedback FINAL
      WHERE ${where} AND trigger_ref IS NOT NULL GROUP BY trigger_ref ORDER BY max(created_at) DESC LIMIT ${most}
      UNION ALL SELECT payload FROM feedback FINAL
      WHERE ${where} AND (weave_ref, id) IN (SELECT weave_ref, id FROM (${added}) WHERE total <= ${SAMPLED_BYTES_MAX})`,
    params: params.values,
  }
}

export interface ScoreRow {
  /** Milliseconds since 1970; 0 where time is not divided into buckets. */
  bucket: number
  groups: string[]
  total_count: number
  scored_count: number
  tag_counts: Record<string, number>
  rating_counts: Record<string, number>
  /** Sums of 0 may be left out. */
  rating_sums: Record<string, number>
}

const GROUPS: Record<GroupKey, string> = {
  scorer_id: `ifNull(runnable_ref, '')`,
  span_agent_name: 'span_agent_name',
  span_agent_version: 'span_agent_version',
  span_status_code: 'span_status_code',
}

/** Outputs of scorers, by time and group, up to `limit` rows. */
export function selectScores(req: FeedbackAggregateReq, groups: readonly GroupKey[], limit: number): Query {
  const params = createParams()
  const seconds = params.bind(req.time_bucket_seconds ?? 0, 'Int64')
  const bucket =
    req.time_bucket_seconds == null
      ? '0'
      : `intDiv(toUnixTimestamp(created_at), ${seconds}) * ${seconds} * 1000`
  return {
    sql: `SELECT ${bucket} AS bucket, [${groups.map((key) => GROUPS[key]).join(', ')}]::Array(String) AS groups,
        count() AS total_count, countIf(notEmpty(scorer_tags) OR notEmpty(scorer_ratings)) AS scored_count,
        sumMap(mapFromArrays(arrayDistinct(scorer_tags), arrayMap(tag -> 1, arrayDistinct(scorer_tags)))) AS tag_counts,
        sumMap(mapApply((name, rating) -> (name, 1), scorer_ratings)) AS rating_counts,
        sumMap(scorer_ratings) AS rating_sums
      FROM feedback FINAL WHERE ${scoreConditions(req, params)}
      GROUP BY bucket, groups ORDER BY bucket, groups LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** Prefixes and tags of a list: each row is compared with one after the other. */
const COMPARED_MAX = 1000

function scoreConditions(req: FeedbackAggregateReq, params: Params): string {
  const found = [
    `project_id = ${params.bindProject(req.project_id)}`,
    `toUnixTimestamp64Milli(created_at) >= ${params.bind(req.after_ms, 'Int64')}`,
    `toUnixTimestamp64Milli(created_at) < ${params.bind(req.before_ms, 'Int64')}`,
  ]
  const bindCompared = (noun: string, texts: readonly string[]): string => {
    if (texts.length > COMPARED_MAX) throw invalidRequest(`A list of ${noun} has at most ${COMPARED_MAX}`)
    return params.bind(texts, 'Array(String)')
  }
  const anyPrefix = (column: string, prefixes: readonly string[]): string =>
    `arrayExists(prefix -> startsWith(${column}, prefix), ${bindCompared('prefixes', prefixes)})`
  const anyId = (column: string, ids: readonly string[] | null | undefined): void => {
    if (!ids?.length) return
    const prefixes = ids.filter((id) => id.endsWith('*')).map((id) => id.slice(0, -1))
    const isExact = `ifNull(${column}, '') IN ${params.bindTexts(ids)}`
    found.push(`(${isExact} OR ${anyPrefix(`ifNull(${column}, '')`, prefixes)})`)
  }
  anyId('runnable_ref', req.scorer_ids)
  anyId('trigger_ref', req.monitor_ids)
  if (req.feedback_types?.length) found.push(anyPrefix('feedback_type', req.feedback_types))
  if (req.span_agent_names?.length) found.push(`span_agent_name IN ${params.bindTexts(req.span_agent_names)}`)
  if (req.span_types?.length) {
    const kinds = req.span_types.map((kind) => `weave:///${req.project_id}/${kind}/`)
    found.push(anyPrefix('weave_ref', kinds))
  }
  if (req.tags?.length) found.push(`hasAny(scorer_tags, ${bindCompared('tags', req.tags)})`)
  const bounds = [
    ...(req.rating_min == null ? [] : [`rating >= ${params.bindNumber(req.rating_min)}`]),
    ...(req.rating_max == null ? [] : [`rating <= ${params.bindNumber(req.rating_max)}`]),
  ]
  if (bounds.length > 0)
    found.push(`arrayExists(rating -> ${bounds.join(' AND ')}, mapValues(scorer_ratings))`)
  return found.join(' AND ')
}

function conditions(selection: Selection, params: Params): string {
  const { project_id, start, end, feedback_type, trigger_ref } = selection
  const time = (iso: string): string => `parseDateTime64BestEffort(${params.bind(iso, 'String')}, 6, 'UTC')`
  const found = [
    `project_id = ${params.bindProject(project_id)}`,
    `created_at >= ${time(start)}`,
    `created_at < ${time(end)}`,
  ]
  if (feedback_type != null) found.push(`feedback_type = ${params.bind(feedback_type, 'String')}`)
  if (trigger_ref?.endsWith(':*'))
    found.push(`startsWith(trigger_ref, ${params.bind(trigger_ref.slice(0, -1), 'String')})`)
  else if (trigger_ref != null) found.push(`trigger_ref = ${params.bind(trigger_ref, 'String')}`)
  return found.join(' AND ')
}
