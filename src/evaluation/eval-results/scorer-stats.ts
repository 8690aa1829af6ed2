import { isRecord } from '../../json/is-record.ts'
import { joinPath } from '../../trace/query-language/json-path.ts'
import type * as wire from './wire.ts'

/** Aggregates outputs of scorers over trials, leaf by leaf; trials with an error count as failures on request. */
export interface ScorerStats {
  /** @param scores what a trial has, by scorer */
  add(scores: Record<string, unknown>, outcome: Outcome): void
  /** In the order in which each leaf was first seen. */
  all(): wire.ScorerStats[]
  allWithErrors(): wire.ScorerStats[]
}

export function createScorerStats(): ScorerStats {
  const all: Leaf[] = []
  const root = newNode([])
  let errors = 0

  /** Wire: one statistic for each leaf; lists and nulls have none. */
  function count(node: Node, value: unknown, outcome: Outcome): void {
    if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        const below = node.below.get(name) ?? newNode([...node.path, name])
        node.below.set(name, below)
        count(below, value[name], outcome)
      }
    }
    const type = typeof value
    if (type !== 'boolean' && type !== 'number' && type !== 'string') return
    if (node.leaf === undefined) {
      const field = joinPath(['scores', ...node.path])
      node.leaf = { stats: newStats(node.path, VALUE_TYPES[type]), field, errorsWithValue: 0 }
      all.push(node.leaf)
    }
    addLeaf(node.leaf.stats, value)
    if (outcome === 'error') node.leaf.errorsWithValue++
  }

  function add(scores: Record<string, unknown>, outcome: Outcome): void {
    if (outcome === 'error') errors++
    count(root, scores, outcome)
  }

  return {
    add,
    all: () => all.map(({ stats }) => withRates(stats)),
    allWithErrors: () =>
      all.map(({ stats, field, errorsWithValue }) => ({
        ...withScore(withRates(stats), errors - errorsWithValue),
        field,
      })),
  }
}

/** How a trial ended. */
export type Outcome = 'done' | 'error'

interface Leaf {
  stats: wire.ScorerStats
  /** What requests call it; the path in the statistics is joined by dots that names may have too. */
  field: string
  /** Trials with an error that were scored nevertheless. */
  errorsWithValue: number
}

/** An error counts as one false boolean where there are only those; it has no part in a mean of numbers. */
function withScore(stats: wire.ScorerStats, error_count: number): wire.ScorerStats {
  const { pass_true_count, pass_known_count, numeric_count, numeric_mean } = stats
  if (isShare(stats))
    return { ...stats, error_count, score: pass_true_count / (pass_known_count + error_count) }
  if (pass_known_count === 0) return { ...stats, error_count, score: numeric_mean }
  const sum = (numeric_mean ?? 0) * numeric_count + pass_true_count
  return { ...stats, error_count, score: sum / (numeric_count + pass_known_count) }
}

/** Whether a leaf is true or false wherever it is counted. Wire: `value_type` is that of its first value alone. */
export function isShare({
  pass_known_count,
  numeric_count,
}: Pick<wire.ScorerStats, 'pass_known_count' | 'numeric_count'>): boolean {
  return pass_known_count > 0 && numeric_count === 0
}

/** Paths of possible leaves: the scorer's name and the names below it. */
interface Node {
  path: readonly string[]
  leaf: Leaf | undefined
  below: Map<string, Node>
}

function newNode(path: readonly string[]): Node {
  return { path, leaf: undefined, below: new Map() }
}

const VALUE_TYPES = { boolean: 'binary', number: 'continuous', string: 'text' } as const

function addLeaf(stats: wire.ScorerStats, value: unknown): void {
  stats.trial_count++
  if (typeof value === 'boolean') {
    stats.pass_known_count++
    if (value) stats.pass_true_count++
  }
  if (typeof value === 'number') {
    const sum = (stats.numeric_mean ?? 0) * stats.numeric_count + value
    stats.numeric_count++
    stats.numeric_mean = sum / stats.numeric_count
  }
}

function newStats(
  [scorer_key = '', ...path]: readonly string[],
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
