import { isRecord } from '../../is-record.ts'
import type { Call } from '../calls/wire.ts'
import { textAt } from '../evaluation-runs/evaluation-calls.ts'
import type * as wire from './wire.ts'

type EvaluationSummary = wire.Summary['evaluations'][number]

/** Adds up trials, which come one after the other. */
export function createSummary() {
  const evaluations = new Map<string, { stats: Map<string, wire.ScorerStats>; sums: Sums }>()
  return {
    add(root: string, trial: wire.Trial): void {
      const { stats, sums } = evaluations.get(root) ?? {
        stats: new Map(),
        sums: { trials: 0, tokens: null, cost: null },
      }
      evaluations.set(root, { stats, sums })
      sums.trials++
      if (trial.total_tokens !== null) sums.tokens = (sums.tokens ?? 0) + trial.total_tokens
      if (trial.total_cost !== null) sums.cost = (sums.cost ?? 0) + trial.total_cost
      for (const [scorer, value] of Object.entries(Object(trial.scores.value())))
        addScore(stats, { scorer, path: [] }, value)
    },

    /** Wire: only evaluations with trials. */
    of(rowCount: number, roots: readonly Call[]): wire.Summary {
      const known = new Map(roots.map((root) => [root.id, root]))
      return {
        row_count: rowCount,
        evaluations: [...evaluations].map(([id, { stats, sums }]) => ({
          evaluation_call_id: id,
          trial_count: sums.trials,
          scorer_stats: [...stats.values()].map(withRates),
          ...aboutRoot(known.get(id)),
          predict_total_cost: sums.cost,
          predict_total_tokens: sums.tokens,
        })),
      }
    },
  }
}

interface Sums {
  trials: number
  tokens: number | null
  cost: number | null
}

function aboutRoot(root: Call | undefined) {
  const text = (name: string): string | null => (root && textAt(root.inputs, name)) ?? null
  return {
    evaluation_ref: text('self') ?? text('this'),
    model_ref: text('model'),
    display_name: root?.display_name ?? null,
    trace_id: root?.trace_id ?? null,
    started_at: root?.started_at ?? null,
  } satisfies Partial<EvaluationSummary>
}

const VALUE_TYPES = { boolean: 'binary', number: 'continuous', string: 'text' } as const

/** Wire: one statistic for each leaf; lists and nulls are none. */
function addScore(
  stats: Map<string, wire.ScorerStats>,
  { scorer, path }: { scorer: string; path: readonly string[] },
  value: unknown,
): void {
  if (isRecord(value)) {
    for (const [name, member] of Object.entries(value))
      addScore(stats, { scorer, path: [...path, name] }, member)
  }
  const type = typeof value
  if (type !== 'boolean' && type !== 'number' && type !== 'string') return
  const key = JSON.stringify([scorer, ...path])
  const leaf = stats.get(key) ?? newStats(scorer, path, VALUE_TYPES[type])
  stats.set(key, leaf)
  leaf.trial_count++
  if (typeof value === 'boolean') {
    leaf.pass_known_count++
    if (value) leaf.pass_true_count++
  }
  if (typeof value === 'number') {
    const sum = (leaf.numeric_mean ?? 0) * leaf.numeric_count + value
    leaf.numeric_count++
    leaf.numeric_mean = sum / leaf.numeric_count
  }
}

function newStats(
  scorer_key: string,
  path: readonly string[],
  value_type: wire.ScorerStats['value_type'],
): wire.ScorerStats {
  return {
    scorer_key,
    path: path.length === 0 ? null : path.join('.'),
    value_type,
    trial_count: 0,
    numeric_count: 0,
    numeric_mean: null,
    pass_true_count: 0,
    pass_known_count: 0,
    pass_rate: null,
    pass_signal_coverage: null,
  }
}

function withRates(stats: wire.ScorerStats): wire.ScorerStats {
  const { pass_true_count, pass_known_count, trial_count } = stats
  return {
    ...stats,
    pass_rate: pass_known_count === 0 ? null : pass_true_count / pass_known_count,
    pass_signal_coverage: pass_known_count / trial_count,
  }
}
