import { expect, it } from 'vitest'
import { numberOf, parseJson } from './json.ts'

it('keeps the digits of integers that a number cannot hold, and no other numbers as bigints', () => {
  const text =
    '{"id":1234567890123456789,"big":1e+22,"same":9007199254740992,"float":9007199254740993.0,"list":[-12345678901234567]}'
  expect(parseJson(text)).toEqual({
    id: 1234567890123456789n,
    big: 1e22,
    same: 2 ** 53,
    float: 2 ** 53,
    list: [-12345678901234567n],
  })
  expect(JSON.stringify(parseJson('{"id":1234567890123456789}'))).toBe('{"id":1234567890123456789}')
})

it('reads what it has kept as a number where one is counted with', () => {
  expect(numberOf(1234567890123456789n)).toBe(1234567890123456800)
  expect(numberOf('12')).toBeNull()
})
