import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseLax } from './lax-parse.ts'

const read = (schema: z.ZodType, value: unknown): unknown => parseLax(schema, value).data

describe('parseLax', () => {
  it.each<[z.ZodType, unknown, unknown]>([
    [z.number(), true, 1],
    [z.number(), false, 0],
    [z.number(), '0.5', 0.5],
    [z.number(), ' -1e3 ', -1000],
    [z.int(), '5', 5],
    [z.int(), '5.0', 5],
    [z.int(), true, 1],
    [z.int().min(1).max(9), '5', 5],
    [z.boolean(), 1, true],
    [z.boolean(), 0, false],
    [z.boolean(), 'Yes', true],
    [z.boolean(), 'on', true],
    [z.boolean(), 'OFF', false],
    [z.boolean(), 'f', false],
    [z.boolean(), '1', true],
    [z.array(z.int()), ['1', 2, true], [1, 2, 1]],
    [z.object({ a: z.object({ b: z.number().nullish() }) }), { a: { b: '2' } }, { a: { b: 2 } }],
    [z.record(z.string(), z.number()), { x: '1', y: 2 }, { x: 1, y: 2 }],
    [z.union([z.string(), z.number()]), '5', '5'],
    [z.union([z.string(), z.number()]), true, 1],
    [z.union([z.object({ a: z.string() }), z.object({ b: z.int() })]), { b: '7' }, { b: 7 }],
    [z.array(z.union([z.int(), z.object({ n: z.int() })])), ['1', { n: '2' }], [1, { n: 2 }]],
  ])('%# reads what pydantic reads', (schema, value, expected) => {
    expect(read(schema, value)).toEqual(expected)
  })

  it.each<[z.ZodType, unknown]>([
    [z.number(), ''],
    [z.number(), '0x10'],
    [z.number(), 'NaN'],
    [z.number(), 'one'],
    [z.number(), null],
    [z.number(), [1]],
    [z.number(), `1${'0'.repeat(100)}`],
    [z.int(), '5.5'],
    [z.int(), 5.5],
    [z.int().max(4), '5'],
    [z.boolean(), 2],
    [z.boolean(), 'maybe'],
    [z.boolean(), ''],
    [z.string(), 5],
    [z.string(), true],
  ])('%# refuses what pydantic refuses', (schema, value) => {
    expect(parseLax(schema, value).success).toBe(false)
  })

  it('leaves its input unchanged, and reports only errors', () => {
    const value = Object.freeze({ limit: '5', deep: Object.freeze({ flag: 'yes' }), name: 1 })
    const schema = z.object({ limit: z.int(), deep: z.object({ flag: z.boolean() }), name: z.string() })
    expect(parseLax(schema, value).error?.issues.map(({ path }) => path)).toEqual([['name']])
    expect(value).toEqual({ limit: '5', deep: { flag: 'yes' }, name: 1 })
  })

  it('reads many values at once', () => {
    const texts = Array.from({ length: 100_000 }, (_, index) => String(index))
    expect(read(z.array(z.int()), texts)).toHaveLength(100_000)
  })

  it('reports only the first issue where that is enough, and still reads the other values', () => {
    const schema = z.object({ a: z.array(z.int()) })
    const all = { a: ['x', ...Array<string>(1_000).fill('y')] }
    expect(parseLax(schema, all).error?.issues).toHaveLength(1_001)
    expect(parseLax(schema, all, { issues: 'first' }).error?.issues).toMatchObject([{ path: ['a', 0] }])
    expect(parseLax(schema, { a: ['1', '2'] }, { issues: 'first' }).data).toEqual({ a: [1, 2] })
  })

  it('does not write to prototypes', () => {
    const value: unknown = JSON.parse('{"__proto__": {"polluted": "1"}}')
    const schema = z.record(z.string(), z.record(z.string(), z.int()))
    parseLax(schema, value)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})
