import { describe, expect, it } from 'vitest'
import type { ScorerStats } from '../../api/evaluations.ts'
import { nextSort } from './compare-summary.tsx'
import { isLessBetter, latencyIn, metricsIn, verdictOf } from './metrics.ts'
import { leavesIn } from './results-row.ts'

const stats = (fields: Partial<ScorerStats>): ScorerStats => ({
  scorer_key: 'exact',
  path: 'match',
  value_type: 'binary',
  trial_count: 100,
  numeric_count: 0,
  numeric_mean: null,
  pass_true_count: 0,
  pass_known_count: 100,
  pass_rate: null,
  pass_signal_coverage: 1,
  ...fields,
})

describe('numbers of a summary', () => {
  it('are its shares and means by path; latency stands apart', () => {
    const output = {
      exact: { match: { true_count: 1, true_fraction: 0.5 } },
      judge: { mean: 3, parts: { tone: { mean: 2 } } },
      nothing: null,
      model_latency: { mean: 1.5 },
    }
    expect([...metricsIn(output)]).toEqual([
      ['exact.match', 0.5],
      ['judge', 3],
      ['judge.parts.tone', 2],
    ])
    expect(latencyIn(output)).toBe(1500)
    expect([...metricsIn(null)]).toEqual([])
  })

  it('of what scorers said of one row are numbers and truths', () => {
    expect([...leavesIn({ exact: true, judge: { stars: 3, why: 'so' }, none: null })]).toEqual([
      ['exact', 1],
      ['judge.stars', 3],
    ])
  })
})

describe('a difference to the baseline', () => {
  it('is better or worse in the direction of its metric', () => {
    expect(verdictOf('exact.match', stats({ pass_rate: 0.9 }), stats({ pass_rate: 0.5 }))).toBe('better')
    expect(verdictOf('exact.match', stats({ pass_rate: 0.5 }), stats({ pass_rate: 0.9 }))).toBe('worse')
    const mean = (numeric_mean: number) => stats({ value_type: 'continuous', numeric_mean, numeric_count: 9 })
    expect(verdictOf('edit.distance', mean(3), mean(5))).toBe('better')
    expect(isLessBetter('reward')).toBe(false)
  })

  it('is none where so few rows cannot tell two shares apart, or nothing was scored', () => {
    expect(verdictOf('exact.match', stats({ pass_rate: 0.52 }), stats({ pass_rate: 0.5 }))).toBe('same')
    const few = { pass_known_count: 5 }
    expect(verdictOf('m', stats({ ...few, pass_rate: 0.8 }), stats({ ...few, pass_rate: 0.6 }))).toBe('same')
    expect(verdictOf('m', stats({}), stats({ pass_rate: 0.5 }))).toBeUndefined()
    expect(verdictOf('m', stats({ pass_rate: 0.5 }), undefined)).toBeUndefined()
  })
})

describe('sorting by a metric', () => {
  it('goes from the largest differences to the lowest, the highest, and back to none', () => {
    const seen = ['']
    for (let click = 0; click < 4; click++) seen.push(nextSort(seen.at(-1) ?? '', 'm', true))
    expect(seen).toEqual(['', '~m', 'm', '-m', ''])
    expect(nextSort('', 'm', false)).toBe('m')
    expect(nextSort('~other', 'm', true)).toBe('~m')
  })
})
