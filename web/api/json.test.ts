import { expect, it } from 'vitest'
import { numberOf, parseJson, valueAt } from './json.ts'

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

it('finds the members of a payload by their path, and none of what JavaScript gives to all objects', () => {
  const call = { inputs: parseJson('{"a.b":[1,{"c":2}],"toString":"own","__proto__":{"x":3}}') }
  expect(valueAt(call, 'inputs.a\\.b.1.c')).toBe(2)
  expect(valueAt(call, 'inputs.toString')).toBe('own')
  expect(valueAt(call, 'inputs.__proto__.x')).toBe(3)
  for (const path of ['inputs.constructor', 'inputs.constructor.name', 'toString', 'inputs.a\\.b.length'])
    expect(valueAt(call, path), path).toBeUndefined()
})

it('reads what it has kept as a number where one is counted with', () => {
  expect(numberOf(1234567890123456789n)).toBe(1234567890123456800)
  expect(numberOf('12')).toBeNull()
})
