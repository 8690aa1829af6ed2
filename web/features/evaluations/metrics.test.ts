import { describe, expect, it } from 'vitest'
import type { EvaluationResults, ScorerStats } from '../../api/evaluations.ts'
import { nextSort } from './compare-summary.tsx'
import { clientDiffers, isLessBetter, latencyIn, metricsIn, scoreIn, verdictOf } from './metrics.ts'
import { leavesIn } from './results-row.ts'

const evaluation = (stats: Partial<ScorerStats>, trial_count = 100): EvaluationResults => ({
  evaluation_call_id: 'e',
  trial_count,
  evaluation_ref: null,
  model_ref: null,
  display_name: null,
  trace_id: null,
  started_at: null,
  predict_total_cost: null,
  predict_total_tokens: null,
  row_count: trial_count,
  error_count: stats.error_count ?? 0,
  scorer_stats: [
    {
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
      error_count: 0,
      score: null,
      ...stats,
    },
  ],
})

const EXACT = { id: 'exact.match', isShare: true, isLessBetter: false }

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
    const scores = { exact: true, judge: { stars: 3, why: 'so' }, none: null, large: '1234567890123456789' }
    expect([...leavesIn(scores)]).toEqual([
      ['exact', 1],
      ['judge.stars', 3],
      ['large', 1234567890123456800],
    ])
  })
})

describe('what an evaluation comes to', () => {
  it('counts errors as failures, also where there is nothing else, and says what was not scored', () => {
    const some = evaluation({ pass_known_count: 46, pass_true_count: 42, error_count: 4, score: 0.84 }, 51)
    expect(scoreIn(some, EXACT)).toEqual({ value: 0.84, counted: 50, errors: 4, unscored: 1 })
    const none = { ...evaluation({}, 3), error_count: 3, scorer_stats: [] }
    expect(scoreIn(none, EXACT)).toEqual({ value: 0, counted: 3, errors: 3, unscored: 0 })
    expect(scoreIn(none, { id: 'length', isShare: false })).toBeUndefined()
    expect(scoreIn(undefined, EXACT)).toBeUndefined()
  })

  it('is the same as the client says but for rounding', () => {
    expect(clientDiffers(0.1 + 0.2, 0.3)).toBeUndefined()
    expect(clientDiffers(0.84, 0.913)).toBe(0.913)
    expect(clientDiffers(undefined, 0.5)).toBe(0.5)
    expect(clientDiffers(0.5, undefined)).toBeUndefined()
  })
})

describe('a difference to the baseline', () => {
  const share = (value: number, counted = 100) => ({ value, counted, errors: 0, unscored: 0 })

  it('is better or worse in the direction of its metric', () => {
    expect(verdictOf(EXACT, share(0.9), share(0.5))).toBe('better')
    expect(verdictOf(EXACT, share(0.5), share(0.9))).toBe('worse')
    const distance = { isShare: false, isLessBetter: true }
    expect(verdictOf(distance, share(3), share(5))).toBe('better')
  })

  it('takes the direction that people decided on, and guesses it otherwise', () => {
    expect(isLessBetter('reward', new Map())).toBe(false)
    expect(isLessBetter('edit.distance', new Map())).toBe(true)
    expect(isLessBetter('edit.distance', new Map([['edit.distance', 'more']]))).toBe(false)
    expect(isLessBetter('verbose', new Map([['verbose', 'less']]))).toBe(true)
  })

  it('is none where so few rows cannot tell two shares apart, or nothing was scored', () => {
    expect(verdictOf(EXACT, share(0.52), share(0.5))).toBe('same')
    expect(verdictOf(EXACT, share(0.8, 5), share(0.6, 5))).toBe('same')
    expect(verdictOf(EXACT, undefined, share(0.5))).toBeUndefined()
    expect(verdictOf(EXACT, share(0.5), undefined)).toBeUndefined()
  })
})

describe('sorting by a metric', () => {
  it('goes from what got worse to what got better, and back to the usual order', () => {
    const seen = ['']
    for (let click = 0; click < 3; click++) seen.push(nextSort(seen.at(-1) ?? '', 'm', true))
    expect(seen).toEqual(['', '~m', '+m', ''])
    expect(nextSort('', 'm', false)).toBe('m')
    expect(nextSort('~other', 'm', true)).toBe('~m')
  })
})
