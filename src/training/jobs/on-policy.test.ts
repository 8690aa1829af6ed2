import { describe, expect, it } from 'vitest'
import { onPolicyWarnings } from './on-policy.ts'

const codes = (metrics: Record<string, number>) => onPolicyWarnings(metrics).map(({ code }) => code)

describe('onPolicyWarnings', () => {
  it('gives no warning for a step that is on-policy', () => {
    const metrics = {
      'on_policy/logprob_gap_mean': 1e-6,
      'on_policy/logprob_gap_max': 1e-4,
      'on_policy/tokens_without_logprobs': 0,
      'on_policy/share_clipped': 0,
      'on_policy/versions_behind_max': 1,
      'on_policy/share_with_rebuilt_context': 0,
      'on_policy/tokens_biased': 0,
      'on_policy/tokens_biased_by_top_p': 0,
    }
    expect(codes(metrics)).toEqual([])
  })

  it('allows for the rounding of log-probabilities', () => {
    const gap = (mean: number, rounding: number) =>
      onPolicyWarnings({ 'on_policy/logprob_gap_mean': mean, 'on_policy/logprob_gap_of_rounding': rounding })
    expect(gap(0.05, 0.08)).toEqual([])
    expect(gap(0.05, 0)).toMatchObject([{ code: 'logprob_gap', threshold: 0.02 }])
    expect(gap(0.11, 0.08)).toMatchObject([{ code: 'logprob_gap', threshold: 0.1 }])
  })

  it('names everything that is wrong', () => {
    const metrics = {
      'on_policy/logprob_gap_mean': 0.3,
      'on_policy/tokens_without_logprobs': 5,
      'on_policy/share_with_rebuilt_context': 0.25,
      'on_policy/share_clipped': 0.5,
      'on_policy/versions_behind_max': 3,
      'on_policy/tokens_forced': 2,
      'on_policy/tokens_not_truncated': 9,
      'on_policy/tokens_biased_by_top_p': 7,
    }
    expect(codes(metrics)).toEqual([
      'logprob_gap',
      'missing_logprobs',
      'rebuilt_context',
      'clipped',
      'stale_rollouts',
      'forced_tokens',
      'not_truncated',
      'biased_by_top_p',
    ])
    expect(onPolicyWarnings(metrics).at(-1)).toMatchObject({
      message: expect.stringContaining('top_p'),
      value: 7,
    })
  })
})
