import { expect, it } from 'vitest'
import { numberOf, parseJson } from './json.ts'

it('keeps the digits of integers that a number cannot hold, and no other numbers as text', () => {
  const text =
    '{"id":1234567890123456789,"big":1e+22,"same":9007199254740992,"float":9007199254740993.0,"list":[-12345678901234567]}'
  expect(parseJson(text)).toEqual({
    id: '1234567890123456789',
    big: 1e22,
    same: 2 ** 53,
    float: 2 ** 53,
    list: ['-12345678901234567'],
  })
})

it('reads what it has kept as text as a number where one is counted with', () => {
  expect(numberOf('1234567890123456789')).toBe(1234567890123456800)
  expect(numberOf('12')).toBeNull()
})
