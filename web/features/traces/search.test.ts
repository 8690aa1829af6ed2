import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'
import { describe, expect, it } from 'vitest'
import { OPERATORS, TRACES_SEARCH_DEFAULTS, type TracesSearch, tracesSearch } from './search.ts'

const RUNS = 500
const TEXTS = [
  '',
  'a b',
  '1',
  'true',
  'null',
  '"x"',
  '[1]',
  '{}',
  'ä€😀',
  'a&b=c#d%20+',
  '-started_at',
  '0012',
  '1e5',
  '..',
]

/** A small generator of its own, so that a failure can be run again. */
function randomFrom(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function randomSearch(seed: number): TracesSearch {
  const random = randomFrom(seed)
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const some = <Item>(make: () => Item): Item[] => Array.from({ length: Math.floor(random() * 4) }, make)
  return {
    filter: some(() =>
      random() < 0.2
        ? { expr: { $eq: [{ $getField: one(TEXTS) }, { $literal: one([1, null, true, one(TEXTS)]) }] } }
        : { field: one(TEXTS), op: one(OPERATORS), value: one(TEXTS) },
    ),
    text: one(TEXTS),
    range: one(['', '24h', 'all', '2026-11-20T00:00:00.000Z..2026-11-21T00:00:00.000Z', one(TEXTS)]),
    sort: one(['-started_at', 'op', '-inputs.a b', 'output', '-summary.usage.x', 'summary.weave.status']),
    columns: some(() => one(TEXTS)),
    calls: one(['roots', 'all']),
    open: one(TEXTS),
    tab: one(TEXTS),
  }
}

describe('the address of the traces page', () => {
  it('says exactly what it was made of', () => {
    for (let seed = 0; seed < RUNS; seed++) {
      const search = randomSearch(seed)
      expect(tracesSearch.parse(defaultParseSearch(defaultStringifySearch(search)))).toEqual(search)
    }
  })

  it('is understood one field at a time', () => {
    const broken = { filter: 'x', text: 5, range: [], calls: 'some', open: 'a' }
    for (const sort of [7, '', 'nothing', '--op', '-summary.weave.other', 'summary', 'constructor'])
      expect(tracesSearch.parse({ ...broken, sort })).toEqual({ ...TRACES_SEARCH_DEFAULTS, open: 'a' })
  })
})
