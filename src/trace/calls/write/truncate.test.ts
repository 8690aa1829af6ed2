import { describe, expect, it } from 'vitest'
import { isInTruncated, TRUNCATED_BYTES, TRUNCATED_ELEMENTS } from '../sql/truncated.ts'
import { truncate } from './truncate.ts'

const LONG = 'x'.repeat(TRUNCATED_BYTES + 1)
const parsed = (value: unknown): unknown => JSON.parse(truncate(JSON.stringify(value)))

describe('a truncated copy of JSON', () => {
  it.each([
    ['null'],
    ['"x"'],
    [' { "a" : [ 1 , "\\"" , { } , [ ] ] , "b" : "\\\\" } '],
    [JSON.stringify(Array.from({ length: TRUNCATED_ELEMENTS }, (_, index) => [index, { index }]))],
    [JSON.stringify({ text: 'x'.repeat(TRUNCATED_BYTES) })],
    [JSON.stringify({ digits: `-${'1'.repeat(500)}.5e+7` })],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index])))],
  ])('is the text itself where nothing is long: %.40s', (text) => {
    expect(truncate(text)).toBe(text)
  })

  it('has the beginning of long strings, keys among them', () => {
    const beginning = 'x'.repeat(TRUNCATED_BYTES)
    expect(parsed({ a: LONG, b: [LONG, 1], [LONG]: 2 })).toEqual({
      a: beginning,
      b: [beginning, 1],
      [beginning]: 2,
    })
    expect(truncate(`{"a":"${LONG}" }`)).toBe(`{"a":"${beginning}" }`)
  })

  it.each(['é', '😀', '\n', '"', '\\', '\u0000', '\\"'])('cuts no character in half: %j', (character) => {
    const text = character.repeat(TRUNCATED_BYTES * 2)
    for (const json of [JSON.stringify([text, 1]), asciiOnly(JSON.stringify([text, 1]))]) {
      const [kept, after] = JSON.parse(truncate(json)) as [string, number]
      expect(text.startsWith(kept)).toBe(true)
      expect(Buffer.byteLength(kept)).toBeGreaterThanOrEqual(TRUNCATED_BYTES)
      expect(Buffer.from(kept).toString()).toBe(kept)
      expect(kept.length).toBeLessThan(text.length)
      expect(after).toBe(1)
    }
  })

  it('has the first elements of long arrays at any depth', () => {
    const numbers = Array.from({ length: 1000 }, (_, index) => index)
    const first = numbers.slice(0, TRUNCATED_ELEMENTS)
    expect(parsed(numbers)).toEqual(first)
    expect(parsed({ a: [numbers, { b: numbers }], c: LONG.slice(1) })).toEqual({
      a: [first, { b: first }],
      c: LONG.slice(1),
    })
    expect(parsed(numbers.map((number) => [`[${number}`, numbers, { text: `"]${LONG}` }]))).toEqual(
      first.map((number) => [`[${number}`, first, { text: `"]${LONG}`.slice(0, TRUNCATED_BYTES) }]),
    )
  })

  it.each([
    ['half a surrogate pair', String.raw`"\ud800"`, '\ufffd'],
    ['a number too large', '1e400', '1e400'],
    ['an integer too large', '-18446744073709551616', '-18446744073709551616'],
  ])(
    'is whole where the database cannot parse the text for %s, which is then a string',
    (_, odd, expected) => {
      const numbers = Array.from({ length: TRUNCATED_ELEMENTS }, () => 0)
      const text = `{"long":"${LONG}","late":[${numbers.join(',')},${odd}],"n":1.5}`
      expect(JSON.parse(truncate(text))).toEqual({ long: LONG, late: [...numbers, expected], n: 1.5 })
    },
  )

  it('omits long keys and late elements, which paths may not name in it', () => {
    expect(isInTruncated(['a', 'é', '63', 'b'])).toBe(true)
    expect(isInTruncated(['a', '64'])).toBe(false)
    expect(isInTruncated([LONG])).toBe(false)
  })
})

/** The same JSON with every other character escaped. */
function asciiOnly(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
