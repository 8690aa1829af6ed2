import { describe, expect, it } from 'vitest'
import { durationText, rateLimitHeaders } from './rate-limit-headers.ts'

describe('rateLimitHeaders', () => {
  it('reports the limit of which the least is left', () => {
    const states = [
      { limit: 100, left: 60, resetMs: 24_000 },
      { limit: 50, left: 7, resetMs: 51_600 },
    ]
    expect(rateLimitHeaders('tokens', states)).toEqual({
      'x-ratelimit-limit-tokens': '50',
      'x-ratelimit-remaining-tokens': '7',
      'x-ratelimit-reset-tokens': '51.6s',
    })
    expect(rateLimitHeaders('requests', [])).toEqual({})
  })
})

describe('durationText', () => {
  it.each([
    [0, '0ms'],
    [11.2, '12ms'],
    [1_450, '1.5s'],
    [360_000, '6m0s'],
    [61_001, '1m2s'],
  ])('of %d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
