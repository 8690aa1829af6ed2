import { expect, it } from 'vitest'
import { unitOf } from './unit.ts'

it.each([
  [[0, null], 1],
  [[-3, 9e14], 1],
  [[2e303, 1], 1e303],
  [[-4e20, null], 1e20],
  [[2e-40, 0], 1e-40],
])('draws %j in units of %d', (values, unit) => expect(unitOf([{ values }])).toBe(unit))

it('counts with bands', () => {
  expect(unitOf([{ values: [1], band: { low: [1], high: [3e40] } }])).toBe(1e40)
})
