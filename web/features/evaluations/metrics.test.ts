import { describe, expect, it } from 'vitest'
import type { EvaluationResults, ScorerStats } from '../../api/evaluations.ts'
import { nextSort } from './compare-summary.tsx'
import {
  clientDiffers,
  isLessBetter,
  latencyIn,
  metricsIn,
  metricsOf,
  pairIn,
  scoreIn,
  verdictOf,
} from './metrics.ts'
import { resultsRequest } from './results-request.ts'
import { leavesIn } from './results-row.ts'
import { compareSearch } from './search.ts'

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
      field: 'scores.exact.match',
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
    const scores = { exact: true, judge: { stars: 3, why: 'so' }, none: null, large: 1234567890123456789n }
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

describe('metrics', () => {
  it('are means where any evaluation has numbers, of which true is 1, and are no shares then', () => {
    const truths = evaluation({ pass_known_count: 4, pass_true_count: 3, error_count: 1 }, 5)
    const numbers = evaluation({ pass_known_count: 0, numeric_count: 4, numeric_mean: 2.5 }, 4)
    const mixed = evaluation(
      { pass_known_count: 2, pass_true_count: 1, numeric_count: 2, numeric_mean: 4 },
      4,
    )
    const [metric, ...others] = metricsOf({ evaluations: [truths, numbers, mixed] }, new Map())
    expect(others).toEqual([])
    expect(metric?.isShare).toBe(false)
    const id = { id: 'exact.match', isShare: false }
    expect([truths, numbers, mixed].map((each) => scoreIn(each, id)?.value)).toEqual([0.75, 2.5, 2.25])
    expect(metricsOf({ evaluations: [truths] }, new Map())[0]?.isShare).toBe(true)
  })

  it('whose names with dots look alike stay apart, and none is sorted by an empty name', () => {
    const named = (scorer_key: string, path: string | null, field: string) =>
      evaluation({ scorer_key, path, field }).scorer_stats
    const scorer_stats = [
      ...named('a', 'b', 'scores.a.b'),
      ...named('a.b', null, 'scores.a\\.b'),
      ...named('', null, 'scores.'),
    ]
    const metrics = metricsOf({ evaluations: [{ ...evaluation({}), scorer_stats }] }, new Map())
    expect(metrics.map(({ id }) => id)).toEqual(['a.b', 'a\\.b', ''])
    expect(metrics.map(({ field }) => field)).toEqual(['scores.a.b', 'scores.a\\.b', undefined])
    expect([...leavesIn({ a: { b: 1 }, 'a.b': 2, '': 3 }).keys()]).toEqual(['a.b', 'a\\.b', ''])
    const { sort_by } = resultsRequest(['e'], { ...compareSearch.parse({}) }, metrics)
    expect(sort_by?.map(({ field }) => field)).toEqual(['errors', 'scores.a.b', 'scores.a\\.b'])
  })
})

describe('a difference to the baseline', () => {
  const pair = (value: number, baseline: number, rows = 100) => ({ value, baseline, rows })

  it('is better or worse in the direction of its metric', () => {
    expect(verdictOf(EXACT, pair(0.9, 0.5))).toBe('better')
    expect(verdictOf(EXACT, pair(0.5, 0.9))).toBe('worse')
    const distance = { isShare: false, isLessBetter: true }
    expect(verdictOf(distance, pair(3, 5))).toBe('better')
  })

  it('takes the direction that people decided on, and guesses it otherwise', () => {
    expect(isLessBetter('reward', new Map())).toBe(false)
    expect(isLessBetter('edit.distance', new Map())).toBe(true)
    expect(isLessBetter('edit.distance', new Map([['edit.distance', 'more']]))).toBe(false)
    expect(isLessBetter('verbose', new Map([['verbose', 'less']]))).toBe(true)
  })

  it('is none where so few rows cannot tell two shares apart', () => {
    expect(verdictOf(EXACT, pair(0.52, 0.5))).toBe('same')
    expect(verdictOf(EXACT, pair(0.8, 0.6, 5))).toBe('same')
  })

  it('is that over the rows that both have scored', () => {
    const paired = [{ field: 'scores.exact.match', row_count: 3, score: 1, baseline_score: 0.5 }]
    expect(pairIn({ ...evaluation({}), paired }, EXACT)).toEqual({ value: 1, baseline: 0.5, rows: 3 })
    expect(pairIn({ ...evaluation({}), paired }, { id: 'other' })).toBeUndefined()
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
