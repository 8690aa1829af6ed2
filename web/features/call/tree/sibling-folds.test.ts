import { describe, expect, it } from 'vitest'
import type { TraceCall } from '../../../api/trace.ts'
import { buildTree, type TraceTree } from './trace-tree.ts'
import { findInTree } from './tree-search.ts'
import { changeLevels, initialUnfolding, reveal, toggleRepeated, visibleRows } from './visible-rows.ts'

const NOW = 2_000_000

function call(
  id: string,
  parentId: string | null,
  startedMs: number,
  more: Partial<TraceCall> = {},
): TraceCall {
  const rest = { name: id, status: 'ok' as const, endedMs: startedMs + 1, tokens: new Map() }
  return { id, parentId, startedMs, ...rest, ...more }
}

/** Below one parent so many reads, each with a call below it, between them as many writes. */
function repeating(reads: number): TraceTree {
  const calls = [call('root', null, 0, { endedMs: 9000 })]
  for (let at = 0; at < reads; at++) {
    const status = at === 3 ? 'error' : 'ok'
    calls.push(
      call(`read ${at}`, 'root', at * 10, {
        name: 'read',
        endedMs: at * 10 + at,
        tokens: new Map([['m', 2]]),
        status,
      }),
    )
    calls.push(call(`write ${at}`, 'root', at * 10 + 5, { name: `write ${at}` }))
    calls.push(call(`below ${at}`, `read ${at}`, at * 10, { endedMs: null }))
  }
  return buildTree(
    calls.sort((a, b) => a.startedMs - b.startedMs),
    NOW,
  )
}

const idsOf = (tree: TraceTree, rows: readonly number[]) => rows.map((place) => tree.calls[place]?.id)

describe('foldSiblings', () => {
  it('leaves twenty calls of one name apart', () => {
    expect(repeating(20).folds.byFirst.size).toBe(0)
  })

  it('counts, adds up and spans more of them, wherever they stand between others', () => {
    const tree = repeating(21)
    const first = tree.placeOf.get('read 0') ?? -1
    expect([...tree.folds.byFirst.keys()]).toEqual([first])
    expect(tree.folds.byFirst.get(first)).toEqual({
      count: 21,
      p50Ms: 10,
      from: 0,
      to: 220,
      tokens: 42,
      cost: Number.NaN,
      errors: 1,
    })
    const { firsts } = tree.folds
    expect(firsts[tree.placeOf.get('read 20') ?? 0]).toBe(first)
    expect(firsts[tree.placeOf.get('write 20') ?? 0]).toBe(-1)
  })
})

describe('visibleRows of repeated calls', () => {
  const tree = repeating(30)
  const folded = initialUnfolding(tree)
  const first = tree.placeOf.get('read 0') ?? -1

  it('shows one row for them, without what is below, and each of them when opened', () => {
    const rows = idsOf(tree, visibleRows(tree, folded))
    expect(rows.slice(0, 3)).toEqual(['root', 'read 0', 'write 0'])
    expect(rows).toHaveLength(1 + 1 + 30)
    const open = toggleRepeated(tree, folded, first, true)
    expect(visibleRows(tree, open)).toHaveLength(tree.size)
    expect(visibleRows(tree, toggleRepeated(tree, open, first, false))).toHaveLength(rows.length)
    expect(visibleRows(tree, changeLevels(tree, open, -1))).toHaveLength(rows.length)
  })

  it('opens them for a call that is gone to, but not for the one that has the row', () => {
    expect(reveal(tree, folded, first)).toBe(folded)
    for (const id of ['read 7', 'below 7', 'below 0']) {
      const place = tree.placeOf.get(id) ?? -1
      expect(visibleRows(tree, reveal(tree, folded, place))).toContain(place)
    }
  })

  it('shows what a search finds among them', () => {
    const found = findInTree(tree, 'below 7')
    expect(idsOf(tree, visibleRows(tree, folded, found?.kept))).toEqual(['root', 'read 7', 'below 7'])
  })
})
