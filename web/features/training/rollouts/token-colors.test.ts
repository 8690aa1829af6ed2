import { describe, expect, it } from 'vitest'
import { isOutlier, scaleOf, type TokenFacts, tokenValue } from './token-colors.ts'

const token = (more: Partial<TokenFacts>): TokenFacts => ({
  id: 1,
  text: 'a',
  isSampled: true,
  before: -1,
  after: -0.5,
  advantage: 0.25,
  ...more,
})

describe('tokenValue', () => {
  it('gives the change between both steps, and no advantage to the prompt', () => {
    expect(tokenValue(token({}), 'change')).toBe(0.5)
    expect(tokenValue(token({ before: null }), 'change')).toBeNull()
    expect(tokenValue(token({ isSampled: false }), 'advantage')).toBeNull()
  })
})

describe('isOutlier', () => {
  it('marks what was improbable or changed much, of sampled tokens only', () => {
    expect(isOutlier(token({ before: -3 }), 'before')).toBe(true)
    expect(isOutlier(token({ before: -3, isSampled: false }), 'before')).toBe(false)
    expect(isOutlier(token({ after: 0 }), 'change')).toBe(true)
    expect(isOutlier(token({}), 'advantage')).toBe(false)
  })
})

describe('scaleOf', () => {
  it('leaves certainty and zero uncoloured, and tells signs apart by hue', () => {
    const tokens = [token({}), token({ before: -4, after: -5 })]
    expect(scaleOf(tokens, 'before').colorOf(0)).toContain(' 0%')
    expect(scaleOf(tokens, 'change').colorOf(0)).toBeUndefined()
    expect(scaleOf(tokens, 'change').colorOf(1)).toContain('better')
    expect(scaleOf(tokens, 'change').colorOf(-1)).toContain('worse')
    expect(scaleOf([], 'advantage').colorOf(null)).toBeUndefined()
  })
})
