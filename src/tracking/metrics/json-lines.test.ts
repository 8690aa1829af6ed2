import { describe, expect, it } from 'vitest'
import { isRecord } from '../../json/is-record.ts'
import { seeded } from '../../test-random.ts'
import { parseLine, textOf } from './json-lines.ts'

/** What lines are made of. */
const PIECES = ['"', '"', '\\', 'a', '-', 'NaN', 'Infinity', '-NaN', '1', ':', ',', '{', '}', '[', ']', '\n']

/** The plain way, which takes the square of the length of a string without an end. */
function parsedByPattern(text: string): unknown {
  const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/g, (token) =>
    token.startsWith('"') ? token : `"bare ${token}"`,
  )
  try {
    const value: unknown = JSON.parse(quoted, (_key, member: unknown) =>
      typeof member === 'string' && member.startsWith('bare ') ? Number(member.slice(5)) : member,
    )
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

describe('parseLine', () => {
  it('reads numbers that JSON does not have outside of strings, and nothing else that is no JSON', () => {
    const random = seeded(1)
    const pick = (): string => PIECES[Math.floor(random() * PIECES.length)] ?? ''
    const some = (count: number): string => Array.from({ length: random() * count }, pick).join('')
    let read = 0
    for (let round = 0; round < 10_000; round++) {
      const line = `{"a":${some(4)},"${some(6)}":[${some(2)}]}`
      const parsed = parseLine(line)
      expect(parsed, line).toEqual(parsedByPattern(line))
      if (parsed !== undefined) read++
    }
    expect(read).toBeGreaterThan(100)
  })

  it('keeps the digits of whole numbers that a number does not hold, beside those that JSON does not have', () => {
    for (const text of [
      '{"a":1152921504606846977,"b":[-9007199254740993,{"c":98765432109876543210}],"d":"1152921504606846977"}',
      '{"a":1152921504606846977,"b":NaN}',
    ])
      expect(textOf(parseLine(text))).toBe(text)
    expect(
      parseLine('{"a":9007199254740991,"b":0.1234567890123456,"c":1e300,"d":1152921504606846977.0}'),
    ).toEqual({
      ...{ a: 9007199254740991, b: 0.1234567890123456, c: 1e300, d: 2 ** 60 },
    })
  })

  it('reads a string without an end once, not from each of its quotes', () => {
    expect(parseLine(`{"a":"${'\\"'.repeat(2_000_000)}`)).toBeUndefined()
  })
})

describe('textOf', () => {
  it('writes numbers that JSON does not have as parseLine reads them, at any depth, and texts that resemble them as texts', () => {
    const text = '{"a":[NaN,null,-Infinity],"_type":"x","b":{"c":Infinity},"d":"\\"\\u0000NaN\\"","e":"NaN"}'
    expect(textOf(parseLine(text))).toBe(text)
    expect(textOf(Number.NaN)).toBe('NaN')
    expect(textOf(null)).toBe('null')
  })
})
