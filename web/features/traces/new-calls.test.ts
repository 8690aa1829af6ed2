import { expect, it } from 'vitest'
import { LIVE_MS } from '../../api/query-client.ts'
import { counted, NOT_COUNTED, newSince, pauseMs } from './new-calls.ts'

/** What is new to a list of ten calls after these counts. */
function newAfter(...counts: number[]): number {
  const last = counts.reduce((before, count) => counted({ count, tookMs: 1 }, before), NOT_COUNTED)
  return newSince(last, 10)
}

it('what a list would have more is new, and calls that leave it hide none that come later', () => {
  expect(newAfter()).toBe(0)
  expect(newAfter(10)).toBe(0)
  expect(newAfter(10, 13)).toBe(3)
  expect(newAfter(13, 12)).toBe(2)
  expect(newAfter(6)).toBe(0)
  expect(newAfter(6, 9)).toBe(3)
})

it('a count that takes long is made less often', () => {
  expect(pauseMs(counted({ count: 1, tookMs: 20 }))).toBe(LIVE_MS)
  expect(pauseMs(counted({ count: 1, tookMs: 4000 }))).toBe(120_000)
})
