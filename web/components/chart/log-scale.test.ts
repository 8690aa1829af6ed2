import { expect, it } from 'vitest'
import { aboveZero, logScaleFor } from './log-scale.ts'

it('says how many values a log scale leaves out, and is linear where it would leave out all', () => {
  expect(logScaleFor([{ values: [1, null, 2] }])).toEqual({ scale: 'log', note: '' })
  expect(logScaleFor([{ values: [1, -1] }, { values: [0, 5] }]).note).toContain('2 values are 0 or below')
  expect(logScaleFor([{ values: [1, 0] }]).note).toContain('1 value is 0 or below')
  expect(logScaleFor([{ values: [-1, 0, null] }])).toMatchObject({ scale: 'linear' })
  expect([1, 0, -1, null, undefined].map(aboveZero)).toEqual([1, null, null, null, null])
})
