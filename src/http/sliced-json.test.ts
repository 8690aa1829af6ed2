import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { JsonText, parseKeeping } from '../json/lossless-json.ts'
import { bodyShapeOf, keepShapeOf } from '../wire/body-shape.ts'
import { AnyJson, JsonObject } from '../wire/json-text-wire.ts'
import { parseSliced } from './sliced-json.ts'

const Body = z.object({
  a: AnyJson,
  b: z.array(z.object({ c: AnyJson.nullish(), d: z.number() })),
  e: z.record(z.string(), JsonObject),
  f: z.unknown(),
  g: z.union([z.object({ x: z.string() }), z.array(z.string())]),
})
const shape = bodyShapeOf(Body)

/** Pseudo-random numbers below `n`, the same in every run. */
function randomFrom(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return ((state ^ (state >>> 12)) >>> 0) % n
  }
}

const STRINGS = [
  'a',
  'b',
  'c',
  'd',
  'e',
  'f',
  'g',
  'x',
  '__proto__',
  'é\\n',
  '\\ud800',
  '😀',
  '',
  '\\\\',
  '\\"',
]
const SCALARS = ['0', '-0', '1.0', '1e5', '-1.5E-3', '123456789012345678901', 'true', 'false', 'null']
const SPACES = ['', '', '', ' ', '\n', '\t\r\n']
const MARKS = ['"', ',', ':', '{', ']', '\\', '1', '.', 'e', '\u0001', ' ']

function randomDocument(random: (n: number) => number): string {
  const one = (of: readonly string[]) => of[random(of.length)] ?? ''
  const string = () => `"${one(STRINGS)}"`
  const several = (most: number, make: () => string) =>
    Array.from({ length: random(most) }, () => one(SPACES) + make() + one(SPACES)).join(',')
  const value = (depth: number): string => {
    const kind = random(depth > 5 ? 4 : 8)
    if (kind < 2) return string()
    if (kind < 4) return one(SCALARS)
    if (kind < 6) return `[${several(4, () => value(depth + 1))}]`
    return `{${several(5, () => `${string()}${one(SPACES)}:${one(SPACES)}${value(depth + 1)}`)}}`
  }
  const text = `{${Array.from({ length: 5 }, () => `${string()}:${value(1)}`).join(',')}}`
  const at = random(text.length)
  if (random(3) > 0) return text
  return text.slice(0, at) + (random(2) === 0 ? one(MARKS) : '') + text.slice(at + random(2))
}

async function outcomeOf(parse: () => unknown): Promise<unknown> {
  try {
    const { success, data, error } = Body.safeParse(await parse())
    return success ? data : error?.issues
  } catch (error) {
    return (error as Error).name
  }
}

describe('parseSliced', () => {
  it('reads and refuses the same bodies as the parser of small ones', async () => {
    const random = randomFrom(7)
    for (let round = 0; round < 5_000; round++) {
      const text = Buffer.from(randomDocument(random)).toString()
      const expected = await outcomeOf(() => parseKeeping(text, keepShapeOf(Body)))
      expect(await outcomeOf(() => parseSliced(Buffer.from(text), shape)), text).toEqual(expected)
    }
  })

  it.each([
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '[01]',
    '[1.]',
    '["\t"]',
    '[1] 2',
    'nul',
    '\ufeff1',
    '"\\x"',
    '"\\u12g4"',
  ])('SyntaxError for %j', async (text) => {
    await expect(parseSliced(Buffer.from(text), 'any')).rejects.toThrow(SyntaxError)
  })

  it('drops members that the schema does not read', async () => {
    const text = '{"b":[{"d":1,"unknown":{"a":[1]}}],"unknown":{"b":[]},"a":{"kept" :\n1.0}}'
    expect(await parseSliced(Buffer.from(text), shape)).toEqual({
      b: [{ d: 1 }],
      a: new JsonText('{"kept" : 1.0}'),
    })
  })

  it('keeps unknown members where the schema is strict or a record', async () => {
    const strict = bodyShapeOf(z.object({ s: z.strictObject({ a: z.string() }), l: z.looseObject({}) }))
    const text = '{"s":{"unknown":1},"l":{"other":[2]}}'
    expect(await parseSliced(Buffer.from(text), strict)).toEqual(JSON.parse(text))
  })

  it('400 for too many levels, in payloads, in dropped members and in the rest', async () => {
    const levels = (count: number) => '['.repeat(count) + ']'.repeat(count)
    const payload = (count: number) => parseSliced(Buffer.from(`{"a":${levels(count)}}`), shape)
    await payload(JSON_DEPTH_MAX)
    await expect(payload(JSON_DEPTH_MAX + 1)).rejects.toMatchObject({ status: 400 })
    for (const name of ['f', 'unknown']) {
      const deep = Buffer.from(`{"${name}":${levels(1_000_000)}}`)
      await expect(parseSliced(deep, shape)).rejects.toThrow('nested more than 1000 levels')
    }
  })

  it('413 for more values than are read one by one, and counts neither those of payloads nor unknown ones', async () => {
    const values = `[${'1,'.repeat(1_000_001)}1]`
    await expect(parseSliced(Buffer.from(`{"f":${values}}`), shape)).rejects.toMatchObject({ status: 413 })
    await parseSliced(Buffer.from(`{"a":${values},"unknown":${values}}`), shape)
  })

  it('lets others have their turns', async () => {
    let turns = 0
    let isParsing = true
    const other = () => {
      turns++
      if (isParsing) setImmediate(other)
    }
    setImmediate(other)
    await parseSliced(Buffer.from(`{"a":[${'1,'.repeat(2_000_000)}1]}`), shape)
    isParsing = false
    expect(turns).toBeGreaterThan(4)
  })
})
