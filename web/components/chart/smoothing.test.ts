import { describe, expect, it } from 'vitest'
import { smoothed } from './smoothing.ts'

describe('smoothed', () => {
  it('leaves values alone at weight 0', () => {
    expect(smoothed([0, 1, 2], [3, null, 5], 0)).toEqual([3, null, 5])
  })

  it('keeps a constant constant, from the first point on', () => {
    expect(smoothed([0, 1, 2, 9], [4, 4, 4, 4], 0.9)).toEqual([4, 4, 4, 4])
  })

  it('is the weighted mean of all points before, debiased', () => {
    const [first, second, third] = smoothed([0, 1, 2], [0, 1, 1], 0.5)
    expect(first).toBe(0)
    expect(second).toBeCloseTo(1 / 1.5)
    expect(third).toBeCloseTo(1.5 / 1.75)
  })

  it('forgets more over a larger gap', () => {
    const near = smoothed([0, 1, 2, 3], [0, 0, 0, 1], 0.9).at(-1)
    const far = smoothed([0, 1, 2, 30], [0, 0, 0, 1], 0.9).at(-1)
    expect(far).toBeGreaterThan(near ?? 1)
  })

  it('goes over what is missing', () => {
    expect(smoothed([0, 1, 2], [2, null, 2], 0.9)).toEqual([2, null, 2])
  })
})
