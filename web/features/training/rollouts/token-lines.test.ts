import { expect, it } from 'vitest'
import { quantile, sampledEnd, tokenLines } from './token-lines.ts'

it('fills lines and breaks before what does not fit', () => {
  expect(tokenLines(['abcd', 'ef', 'ghi', 'jk'], 6)).toEqual([
    { from: 0, to: 2 },
    { from: 2, to: 4 },
  ])
})

it('ends a line with its break, and keeps a token that is too long whole', () => {
  expect(tokenLines(['a', '\n', 'far too long for it', 'b'], 8)).toEqual([
    { from: 0, to: 2 },
    { from: 2, to: 3 },
    { from: 3, to: 4 },
  ])
  expect(tokenLines([], 8)).toEqual([])
})

it('holds every token exactly once, whatever the width', () => {
  const texts = Array.from({ length: 500 }, (_, index) => (index % 17 === 0 ? '\n' : 'x'.repeat(index % 9)))
  for (const columns of [1, 7, 40, 1000]) {
    const all = tokenLines(texts, columns).flatMap(({ from, to }) =>
      Array.from({ length: to - from }, (_, offset) => from + offset),
    )
    expect(all).toEqual(texts.map((_, index) => index))
  }
})

it('finds quantiles', () => {
  expect(quantile([5, 1, 3], 0)).toBe(1)
  expect(quantile([5, 1, 3], 0.99)).toBe(5)
  expect(quantile([], 0.5)).toBe(0)
})

it('ends the sampled part before what the template adds', () => {
  expect(sampledEnd(['a', '<|im_end|>', '\n'], 'stop')).toBe(2)
  expect(sampledEnd(['a', '<|im_end|>', '\n'], 'length')).toBe(1)
})
