import type { EvaluationResults, ResultsSummary, ScorerStats } from '../../api/evaluations.ts'
import { objectOf, pathNames, pathOf } from '../../api/json.ts'
import type { Directions } from '../../api/metric-directions.ts'
import type { Json } from '../../api/wire.ts'

/** One number of an evaluation's summary: a scorer, and the path to a leaf of its output. */
export interface Metric {
  /** The scorer and the path, in which a dot that is part of a name is written `\.`: no two metrics have the same. */
  id: string
  /** What rows are sorted by; undefined where one of the names is empty, which no request can name. */
  field: string | undefined
  scorer: string
  path: string
  /** Whether it is the share of rows of which something is true; otherwise it is a mean, of which true is 1. */
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
  if (typeof leaf === 'number') found.set(pathOf(path), leaf)
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
      // Texts.
      if (stats.numeric_count + stats.pass_known_count === 0) continue
      const id = metricId(stats)
      const known = metrics.get(id)
      // Where any evaluation has numbers, the truths of the others are compared with them as numbers.
      const isShare = stats.numeric_count === 0 && (known?.isShare ?? true)
      const { scorer_key: scorer, path } = stats
      const field = pathNames(id).includes('') ? undefined : `${SCORES}${id}`
      const isLess = isLessBetter(id, directions)
      metrics.set(id, { id, field, scorer, path: path ?? '', isShare, isLessBetter: isLess })
    }
  return [...metrics.values()]
}

/** What a metric is called on the pages. */
export function titleOf({ id }: Pick<Metric, 'id'>): string {
  return id === '' ? '(no name)' : id
}

/** Where fields of scores begin. */
const SCORES = 'scores.'

function metricId({ field, scorer_key }: Pick<ScorerStats, 'field' | 'scorer_key'>): string {
  return field?.slice(SCORES.length) ?? pathOf([scorer_key])
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
  const truths = stats?.pass_known_count ?? 0
  const known = isShare ? truths : truths + (stats?.numeric_count ?? 0)
  const counted = isShare ? known + errors : known
  if (counted === 0) return undefined
  const isMean = stats !== undefined && truths === 0 && !isShare
  const value = isMean ? stats.numeric_mean : sumIn(stats) / counted
  if (value === null) return undefined
  return { value, counted, errors, unscored: evaluation.trial_count - known - errors }
}

/** The sum of all values, of which true is 1. */
function sumIn(stats: ScorerStats | undefined): number {
  if (stats === undefined) return 0
  return stats.pass_true_count + (stats.numeric_mean ?? 0) * stats.numeric_count
}

/** An evaluation and the baseline over the rows that both have a value of. */
export interface Pair {
  value: number
  baseline: number
  rows: number
}

/** Undefined where there are no such rows, and of the baseline itself. */
export function pairIn(
  evaluation: EvaluationResults | undefined,
  { id }: Pick<Metric, 'id'>,
): Pair | undefined {
  const pair = evaluation?.paired?.find(({ field }) => field === `${SCORES}${id}`)
  return pair && { value: pair.score, baseline: pair.baseline_score, rows: pair.row_count }
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
  { value, baseline, rows }: Pair,
): Verdict {
  const delta = value - baseline
  const noise = metric.isShare ? Math.hypot(noiseOf(value, rows), noiseOf(baseline, rows)) : 0
  if (Math.abs(delta) <= noise) return 'same'
  return delta > 0 !== metric.isLessBetter ? 'better' : 'worse'
}

/** The standard error of a share of so many rows. */
function noiseOf(share: number, rows: number): number {
  return Math.sqrt((share * (1 - share)) / rows)
}

/** Values that differ by less than this part of them are the same but for rounding. */
const ROUNDING = 1e-9

/** The client's own value, where it differs; undefined where it agrees or is missing. */
export function clientDiffers(value: number | undefined, said: number | undefined): number | undefined {
  if (value === undefined || said === undefined) return said
  return Math.abs(value - said) <= ROUNDING * Math.max(1, Math.abs(value)) ? undefined : said
}
