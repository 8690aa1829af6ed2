import { describe, expect, it } from 'vitest'
import { countJsonValues } from './count-json-values.ts'

describe('countJsonValues', () => {
  it.each([
    ['1', 1],
    ['"a,b[{\\",\\\\"', 1],
    ['[1,"]",{"a":null,"b":[true]}]', 7],
    ['"no end', 1],
  ])('of %s is %i', (text, count) => {
    expect(countJsonValues(Buffer.from(text), 100)).toBe(count)
  })

  it('stops beyond a limit', () => {
    expect(countJsonValues(Buffer.from(`[${'{},'.repeat(1_000)}{}]`), 10)).toBe(11)
  })
})
