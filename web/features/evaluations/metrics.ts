import type { EvaluationResults, ResultsSummary, ScorerStats } from '../../api/evaluations.ts'
import { objectOf } from '../../api/json.ts'
import type { Directions } from '../../api/metric-directions.ts'
import type { Json } from '../../api/wire.ts'

/** One number of an evaluation's summary: a scorer, and the path to a leaf of its output. */
export interface Metric {
  id: string
  /** What rows are sorted by. */
  field: string
  scorer: string
  path: string
  /** Whether it is the share of rows of which something is true; otherwise it is a mean. */
  isShare: boolean
  isLessBetter: boolean
}

/** The numbers in the output of an evaluation: shares of true, and means. Latency has a column of its own. */
export function metricsIn(output: Json): Map<string, number> {
  const found = new Map<string, number>()
  for (const [scorer, value] of Object.entries(objectOf(output)))
    if (scorer !== 'model_latency') collect(value, [scorer], found)
  return found
}

function collect(value: Json | undefined, path: readonly string[], found: Map<string, number>): void {
  const members = objectOf(value)
  const leaf = members['true_fraction'] ?? members['mean']
  if (typeof leaf === 'number') found.set(path.join('.'), leaf)
  for (const [name, member] of Object.entries(members)) {
    if (name !== 'true_fraction' && name !== 'mean') collect(member, [...path, name], found)
  }
}

/** Mean latency of the model, in milliseconds. */
export function latencyIn(output: Json): number | null {
  const mean = objectOf(objectOf(output)['model_latency'])['mean']
  return typeof mean === 'number' ? mean * 1000 : null
}

/** Every metric that any of the evaluations has, in the order in which they first appear. */
export function metricsOf(
  { evaluations }: Pick<ResultsSummary, 'evaluations'>,
  directions: Directions,
): Metric[] {
  const metrics = new Map<string, Metric>()
  for (const { scorer_stats } of evaluations)
    for (const stats of scorer_stats) {
      if (stats.value_type === 'text') continue
      const id = metricId(stats)
      if (metrics.has(id)) continue
      const isShare = stats.value_type === 'binary'
      const about = { isShare, isLessBetter: isLessBetter(id, directions) }
      metrics.set(id, {
        id,
        field: stats.field ?? `scores.${id}`,
        scorer: stats.scorer_key,
        path: stats.path ?? '',
        ...about,
      })
    }
  return [...metrics.values()]
}

export function metricId({ scorer_key, path }: Pick<ScorerStats, 'scorer_key' | 'path'>): string {
  return path ? `${scorer_key}.${path}` : scorer_key
}

/** What an evaluation comes to in one metric. */
export interface Score {
  value: number
  /** Trials that the value is made of. */
  counted: number
  /** Trials with an error and without a value: of a share they count as failures, of a mean they are not known. */
  errors: number
  /** Trials that ended well and have no output of the scorer. */
  unscored: number
}

/** Undefined where nothing was scored. Errors count as failures, also where there is nothing else. */
export function scoreIn(
  evaluation: EvaluationResults | undefined,
  { id, isShare }: Pick<Metric, 'id' | 'isShare'>,
): Score | undefined {
  if (evaluation === undefined) return undefined
  const stats = evaluation.scorer_stats.find((each) => metricId(each) === id)
  const errors = stats?.error_count ?? evaluation.error_count ?? 0
  const value = stats === undefined && isShare && errors > 0 ? 0 : stats?.score
  if (value == null) return undefined
  const known = (isShare ? stats?.pass_known_count : stats?.numeric_count) ?? 0
  return {
    value,
    counted: isShare ? known + errors : known,
    errors,
    unscored: evaluation.trial_count - known - errors,
  }
}

/** Names of what is the better the less there is of it: a guess, for metrics whose direction has not been set. */
const LESS_IS_BETTER = /(error|loss|latency|distance|cost|toxic|hallucinat|perplexity|duration)/i

export function isLessBetter(metric: string, directions: Directions): boolean {
  const decided = directions.get(metric)
  return decided === undefined ? LESS_IS_BETTER.test(metric) : decided === 'less'
}

export type Verdict = 'better' | 'worse' | 'same'

/**
 * Whether a value beats the baseline's. Shares that differ by less than the standard error of their difference count as
 * the same.
 */
export function verdictOf(
  metric: Pick<Metric, 'isShare' | 'isLessBetter'>,
  score: Score | undefined,
  baseline: Score | undefined,
): Verdict | undefined {
  if (score === undefined || baseline === undefined) return undefined
  const delta = score.value - baseline.value
  const noise = metric.isShare ? Math.hypot(noiseOf(score), noiseOf(baseline)) : 0
  if (Math.abs(delta) <= noise) return 'same'
  return delta > 0 !== metric.isLessBetter ? 'better' : 'worse'
}

/** The standard error of a share. */
function noiseOf({ value, counted }: Score): number {
  return counted === 0 ? 0 : Math.sqrt((value * (1 - value)) / counted)
}

/** Values that differ by less are the same but for rounding. */
const ROUNDING = 1e-9

/** The client's own value, where it differs; undefined where it agrees or is missing. */
export function clientDiffers(value: number | undefined, said: number | undefined): number | undefined {
  const isSame = value !== undefined && said !== undefined && Math.abs(value - said) <= ROUNDING
  return isSame ? undefined : said
}
