import { describe, expect, it } from 'vitest'
import { jobWarnings } from './data-warnings.ts'

const codes = (metrics: Record<string, number>) => jobWarnings(metrics).map(({ code }) => code)

describe('jobWarnings', () => {
  it('gives no warning for a job without advantages, and for one that was trained on', () => {
    expect(codes({ num_trainable_tokens: 0, num_dropped_trajectories: 0 })).toEqual([])
    expect(codes({ num_trainable_tokens: 5, num_dropped_trajectories: 2 })).toEqual([])
  })

  it('names everything that was left out', () => {
    const dropped = { num_sequences_too_long: 2, num_sequences_with_unknown_tokens: 1 }
    expect(codes({ num_trainable_tokens: 5, ...dropped })).toEqual(['sequences_too_long', 'unknown_tokens'])
    expect(jobWarnings({ num_trainable_tokens: 0, num_dropped_trajectories: 3, ...dropped })).toMatchObject([
      { code: 'nothing_trainable', message: expect.stringContaining('logprobs=true'), value: 3 },
      { code: 'sequences_too_long', value: 2, threshold: 0 },
      { code: 'unknown_tokens', value: 1, threshold: 0 },
    ])
  })
})
