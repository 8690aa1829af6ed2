import { isRecord } from '../../is-record.ts'
import type * as wire from './wire.ts'

/** Adds up what scorers say of trials, leaf by leaf. */
export function createScorerStats() {
  const all: wire.ScorerStats[] = []
  const root = newNode([])

  /** Wire: one statistic for each leaf; lists and nulls are none. */
  function add(node: Node, value: unknown): void {
    if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        const below = node.below.get(name) ?? newNode([...node.path, name])
        node.below.set(name, below)
        add(below, value[name])
      }
    }
    const type = typeof value
    if (type !== 'boolean' && type !== 'number' && type !== 'string') return
    if (node.stats === undefined) {
      node.stats = newStats(node.path, VALUE_TYPES[type])
      all.push(node.stats)
    }
    addLeaf(node.stats, value)
  }

  return {
    /** @param scores what a trial has, by scorer */
    add: (scores: Record<string, unknown>): void => add(root, scores),
    /** In the order in which each leaf was first seen. */
    all: (): wire.ScorerStats[] => all.map(withRates),
  }
}

/** Where leaves may be: the scorer's name and the names below it. */
interface Node {
  path: readonly string[]
  stats: wire.ScorerStats | undefined
  below: Map<string, Node>
}

function newNode(path: readonly string[]): Node {
  return { path, stats: undefined, below: new Map() }
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
