import { expect, it } from 'vitest'
import { rangeOf, spreadOf } from './spread.ts'

it('says how values lie', () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ min: 1, q1: 1.75, median: 2.5, q3: 3.25, max: 4 })
  expect(spreadOf([7])).toEqual({ min: 7, q1: 7, median: 7, q3: 7, max: 7 })
  expect(spreadOf([])).toBeUndefined()
})

it('has a range for any values', () => {
  expect(rangeOf([3, -1, 2])).toEqual([-1, 3])
  expect(rangeOf([2, 2])).toEqual([1.5, 2.5])
  expect(rangeOf([])).toEqual([0, 1])
})
