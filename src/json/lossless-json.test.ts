import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { keepShapeOf } from '../wire/body-shape.ts'
import { AnyJson, JsonObject } from '../wire/json-text-wire.ts'
import {
  JsonNumber,
  JsonText,
  memberText,
  parseKeeping,
  stringify,
  stringifyInPieces,
} from './lossless-json.ts'

const Start = z.object({ id: z.string(), inputs: JsonObject, output: AnyJson.nullish() })
const Batch = z.object({
  batch: z.array(
    z.union([z.object({ req: z.object({ start: Start }) }), z.object({ rows: z.array(AnyJson) })]),
  ),
})

describe('parseKeeping', () => {
  it("keeps payloads as the client's text, wherever the schema requires it", () => {
    const inputs = '{"2": 1.0, "1": 12345678901234567890, "s": "a\\"}\\\\", "__proto__": [1e2]}'
    const text = `{"batch": [ {"req":{"start":{"id":"a", "inputs" : ${inputs} ,"output":null}}}, {"rows":[1.0,{"z":[]}]} ]}`
    const parsed = Batch.parse(parseKeeping(text, keepShapeOf(Batch)))
    expect(stringify(parsed)).toBe(
      `{"batch":[{"req":{"start":{"id":"a","inputs":${inputs},"output":null}}},{"rows":[1.0,{"z":[]}]}]}`,
    )
  })

  it('refuses text that is not JSON', () => {
    expect(() => parseKeeping('{"inputs": {"a": tru}}', { inputs: 'text' })).toThrow(SyntaxError)
  })

  it('does not let a key change a prototype', () => {
    const parsed = parseKeeping('{"__proto__":{"polluted":1},"inputs":{}}', { inputs: 'text' }) as object
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect('polluted' in parsed).toBe(false)
  })
})

describe('memberText', () => {
  it('finds members and elements as they were written', () => {
    expect(memberText('{"a": [1.0, {"b": 2}], "c": 3}', 'a')).toBe('[1.0, {"b": 2}]')
    expect(memberText('[1.0, {"b": 2}]', 1)).toBe('{"b": 2}')
    expect(memberText('[1.0]', 1)).toBeUndefined()
    expect(memberText('{}', 'a')).toBeUndefined()
    expect(memberText('3', 'a')).toBeUndefined()
  })
})

describe('stringify', () => {
  it('leaves out undefined members and writes texts as they are', () => {
    expect(stringify({ a: undefined, b: new JsonText('1.0'), c: [undefined, 'x'] })).toBe(
      '{"b":1.0,"c":[null,"x"]}',
    )
  })
})

describe('stringifyInPieces', () => {
  it.each<unknown>([
    undefined,
    null,
    'text',
    [],
    {},
    { a: undefined },
    [undefined, [], {}],
    { a: { b: { c: [1, new JsonText('1.0')] } }, d: undefined, e: new Date(0), f: new JsonNumber('1.0') },
    { list: [{ a: 1 }, null, [1, [2, [3]]]] },
  ])('is stringify in pieces: %j', (value) => {
    expect([...stringifyInPieces(value)].join('')).toBe(stringify(value))
  })

  it('has a piece for each element of a list that is a member', () => {
    const pieces = [...stringifyInPieces({ list: [{ a: [1] }, { b: 2 }] })]
    expect(pieces).toEqual(expect.arrayContaining(['{"a":[1]}', '{"b":2}']))
  })
})
