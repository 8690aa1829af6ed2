import { describe, expect, it } from 'vitest'
import { fits } from './claim-conditions.ts'

describe('fits', () => {
  it.each([
    ['repo:acme/loom:ref:refs/heads/main', 'repo:acme/loom:ref:refs/heads/main', true],
    ['repo:acme/loom:ref:refs/heads/main', 'repo:acme/loom:*', true],
    ['repo:acme/loom:', 'repo:acme/loom:*', true],
    ['repo:acme/loom-evil:x', 'repo:acme/loom:*', false],
    ['x repo:acme/loom:x', 'repo:acme/loom:*', false],
    ['repo:acme/loom:ref:main', 'repo:*:main', true],
    ['repo:acme/loom:ref:main-2', 'repo:*:main', false],
    ['abcbd', 'a*b*d', true],
    ['abd', 'a*bd*d', false],
    ['aXb.*', 'aXb.*', true],
    ['aXbc', 'aXb.*', false],
    ['ab', 'ab*b', false],
    ['', '*', true],
  ])('of the text %j and the pattern %j: %j', (text, pattern, expected) => {
    expect(fits({ sub: text }, { sub: pattern })).toBe(expected)
  })

  it('needs all claims, and of a list one element', () => {
    const claims = { sub: 'a', groups: ['x', 'y'], number: 7, yes: true, nested: { sub: 'a' } }
    expect(fits(claims, { sub: 'a', groups: 'y', number: '7', yes: 'true' })).toBe(true)
    expect(fits(claims, { sub: 'a', groups: 'z' })).toBe(false)
    expect(fits(claims, { other: '*' })).toBe(false)
    expect(fits(claims, { toString: '*' })).toBe(false)
    expect(fits(claims, { nested: '*' })).toBe(false)
  })
})
