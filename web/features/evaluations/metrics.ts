import type { ResultsSummary, ScorerStats } from '../../api/evaluations.ts'
import { objectOf } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'

/** One number of an evaluation's summary: a scorer, and the path to a leaf of what it says. */
export interface Metric {
  id: string
  scorer: string
  path: string
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
export function metricsOf({ evaluations }: Pick<ResultsSummary, 'evaluations'>): Metric[] {
  const metrics = new Map<string, Metric>()
  for (const { scorer_stats } of evaluations)
    for (const stats of scorer_stats) {
      if (stats.value_type === 'text') continue
      const id = metricId(stats)
      metrics.set(id, { id, scorer: stats.scorer_key, path: stats.path ?? '' })
    }
  return [...metrics.values()]
}

export function metricId({ scorer_key, path }: Pick<ScorerStats, 'scorer_key' | 'path'>): string {
  return path ? `${scorer_key}.${path}` : scorer_key
}

/** A share of passes, or a mean; null where nothing was scored. */
export function scoreOf(stats: ScorerStats | undefined): number | null {
  if (stats === undefined) return null
  return stats.value_type === 'binary' ? stats.pass_rate : stats.numeric_mean
}

/** Names of what is the better the less there is of it. */
const LESS_IS_BETTER = /(error|loss|latency|distance|cost|toxic|hallucinat|perplexity|duration)/i

export function isLessBetter(metric: string): boolean {
  return LESS_IS_BETTER.test(metric)
}

export type Verdict = 'better' | 'worse' | 'same'

/**
 * Whether a value beats the baseline's. Shares that differ by less than the standard error of their difference count as
 * the same: so many rows cannot tell them apart.
 */
export function verdictOf(
  metric: string,
  stats: ScorerStats | undefined,
  baseline: ScorerStats | undefined,
): Verdict | undefined {
  const [value, base] = [scoreOf(stats), scoreOf(baseline)]
  if (value === null || base === null || stats === undefined || baseline === undefined) return undefined
  const delta = value - base
  if (Math.abs(delta) <= Math.hypot(noiseOf(stats), noiseOf(baseline))) return 'same'
  return delta > 0 !== isLessBetter(metric) ? 'better' : 'worse'
}

/** The standard error of a share; 0 for means, whose spread is not known. */
function noiseOf({ value_type, pass_rate, pass_known_count }: ScorerStats): number {
  if (value_type !== 'binary' || pass_rate === null || pass_known_count === 0) return 0
  return Math.sqrt((pass_rate * (1 - pass_rate)) / pass_known_count)
}
