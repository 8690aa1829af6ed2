import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bodyShapeOf } from './body-shape.ts'
import { recordOf } from './bounded-wire.ts'
import { AnyJson } from './json-text-wire.ts'
import { parseLax } from './lax-parse.ts'

describe('recordOf', () => {
  it('looks at no member where there are too many', () => {
    let seen = 0
    const Counted = z.unknown().refine(() => ++seen > 0)
    const members = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`m${index}`, index]))
    expect(recordOf(Counted, 4).safeParse(members)).toMatchObject({ success: true, data: members })
    expect(seen).toBe(4)
    const refused = recordOf(Counted, 3).safeParse(members)
    expect(refused.error?.issues.map(({ message }) => message)).toEqual([
      'Object should have at most 3 members',
    ])
    expect(seen).toBe(4)
  })

  it('names what is wrong, and converts texts of numbers', () => {
    const Numbers = z.object({ of: recordOf(z.number(), 3) })
    expect(Numbers.safeParse({ of: { a: 'x' } }).error?.issues[0]?.path).toEqual(['of', 'a'])
    for (const value of ['x', [], null, undefined])
      expect(Numbers.safeParse({ of: value }).error?.issues[0]).toMatchObject({ expected: 'record' })
    expect(parseLax(Numbers, { of: { a: '1', b: '2' } }).data).toEqual({ of: { a: 1, b: 2 } })
  })

  it('reads its members as their schema does', () => {
    expect(bodyShapeOf(recordOf(AnyJson, 3))).toMatchObject({ others: 'text' })
    expect(bodyShapeOf(recordOf(z.number(), 3))).toMatchObject({ others: 'any' })
  })
})
