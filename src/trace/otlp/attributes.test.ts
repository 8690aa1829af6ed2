import { describe, expect, it } from 'vitest'
import { treeOf, valueAt } from './attributes.ts'
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

const CONFLICTING: [what: string, attributes: Json, trees: Json[]][] = [
  ['a value and names below it', { a: 'x', 'a.b': 1 }, [{ a: 'x', 'a.b': 1 }]],
  [
    'a value and names below it, both with a dot',
    { 'a.b': 10, 'a.b.c': 5 },
    [
      { a: { b: 10 }, 'a.b.c': 5 },
      { a: { b: { c: 5 } }, 'a.b': 10 },
    ],
  ],
  ['a list and names below it', { a: [2], 'a.0': 1 }, [{ a: [2], 'a.0': 1 }]],
  ['a value and an object of one name', { a: { b: { c: 2 } }, 'a.b': 1 }, [{ a: { b: { c: 2 } }, 'a.b': 1 }]],
]

describe('treeOf', () => {
  it.each(DISJOINT)('keeps names beside %s that has others, in either order', (_what, attributes, tree) => {
    for (const list of bothOrders(attributes)) {
      expect(treeOf(list)).toEqual(tree)
    }
  })

  it.each(CONFLICTING)('keeps %s, in either order, and finds both', (_what, attributes, trees) => {
    for (const [index, list] of bothOrders(attributes).entries()) {
      const tree = treeOf(list)
      expect(tree).toEqual(trees[index] ?? trees[0])
      for (const [name, value] of Object.entries(attributes)) expect(valueAt(tree, name)).toEqual(value)
    }
  })

  it('takes the last of a name that is repeated, also where it is a number of 64 bits', () => {
    const list = [2n ** 60n + 1n, 1].flatMap((a) => keyValues({ a }))
    expect(treeOf(list)).toEqual({ a: 1 })
  })
})
