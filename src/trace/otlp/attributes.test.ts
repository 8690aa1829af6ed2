import { describe, expect, it } from 'vitest'
import { treeOf } from './attributes.ts'
import { keyValues } from './test-spans.ts'

type Json = Record<string, unknown>

/** The attributes in the order they are written in, and in the other. */
function bothOrders(attributes: Json): object[][] {
  const list = keyValues(attributes)
  return [list, list.toReversed()]
}

/** A tree has no prototype, which `toEqual` ignores. */
const DISJOINT: [what: string, attributes: Json, tree: Json][] = [
  [
    'a text of JSON',
    { 'gen_ai.request.model': 'gpt-4o', 'gen_ai.request': '{"temperature":1}' },
    { gen_ai: { request: { model: 'gpt-4o', temperature: 1 } } },
  ],
  ['an object', { 'a.b': 1, a: { c: 2 } }, { a: { b: 1, c: 2 } }],
  [
    'an object within an object',
    { 'a.b.c': 1, a: { b: { d: 2 }, e: 3 } },
    { a: { b: { c: 1, d: 2 }, e: 3 } },
  ],
  [
    'a name of JavaScript',
    { 'a.b': 1, a: '{"__proto__":{"c":2}}' },
    { a: { b: 1, ['__proto__']: { c: 2 } } },
  ],
]

const CONFLICTING: [what: string, attributes: Json][] = [
  ['a value and names below it', { 'a.b': 1, a: 'x' }],
  ['a list and names below it', { 'a.0': 1, a: [2] }],
  ['a value and an object of one name', { 'a.b': 1, a: { b: { c: 2 } } }],
]

describe('treeOf', () => {
  it.each(DISJOINT)('keeps names beside %s that has others, in either order', (_what, attributes, tree) => {
    for (const list of bothOrders(attributes)) {
      expect(treeOf(list, 'refused')).toEqual(tree)
      expect(treeOf(list, 'flat')).toEqual(tree)
    }
  })

  it.each(CONFLICTING)('refuses %s, in either order', (_what, attributes) => {
    for (const list of bothOrders(attributes))
      expect(() => treeOf(list, 'refused')).toThrow(/^Attribute a(\.\w)? is both a value and a prefix/)
  })

  it('keeps all where a conflict is not refused, in either order', () => {
    for (const list of bothOrders({ 'a.b': 1, a: 'x' }))
      expect(treeOf(list, 'flat')).toEqual({ a: 'x', 'a.b': 1 })
  })

  it('takes the last of a name that is repeated, also where it is a number of 64 bits', () => {
    const list = [2n ** 60n + 1n, 1].flatMap((a) => keyValues({ a }))
    expect(treeOf(list, 'refused')).toEqual({ a: 1 })
  })
})
