import { describe, expect, it } from 'vitest'
import type { TraceCall } from '../../../api/trace.ts'
import { criticalPath, foldedPath } from './critical-path.ts'
import { buildTree } from './trace-tree.ts'

/** A call by its parent, its start and its end. */
type Given = [id: string, parentId: string | null, from: number, to: number | null]

function treeOf(given: readonly Given[]) {
  const calls = given.map(
    ([id, parentId, startedMs, endedMs]): TraceCall => ({
      id,
      parentId,
      startedMs,
      endedMs,
      name: id.replace(/ .*/, ''),
      status: 'ok',
      tokens: new Map(),
    }),
  )
  return buildTree(
    calls.sort((a, b) => a.startedMs - b.startedMs),
    1_000_000,
  )
}

/** The times of each call on the path, from the last. */
function pathOf(given: readonly Given[]) {
  const tree = treeOf(given)
  return Object.fromEntries(
    [...criticalPath(tree)].map(([place, { own }]) => [
      tree.calls[place]?.id,
      own.map(({ from, to }) => [from, to]),
    ]),
  )
}

describe('criticalPath', () => {
  it('goes from the end back to the last child that ended, and through its children', () => {
    const path = pathOf([
      ['root', null, 0, 100],
      ['a', 'root', 10, 40],
      ['b', 'root', 45, 90],
      ['b1', 'b', 50, 80],
      ['beside', 'root', 20, 35],
    ])
    expect(path).toEqual({
      root: [
        [90, 100],
        [40, 45],
        [0, 10],
      ],
      a: [[10, 40]],
      b: [
        [80, 90],
        [45, 50],
      ],
      b1: [[50, 80]],
    })
  })

  it('leaves out a child that ended while a later one ran, and takes one that ended as it began', () => {
    const path = pathOf([
      ['root', null, 0, 60],
      ['a', 'root', 0, 30],
      ['b', 'root', 30, 60],
      ['overlaps', 'root', 10, 40],
    ])
    expect(path).toEqual({ root: [], a: [[0, 30]], b: [[30, 60]] })
  })

  it('counts of children that outlive their parent, began before it or still run, what is within it', () => {
    const late = pathOf([
      ['root', null, 0, 50],
      ['late', 'root', 40, 90],
      ['early', 'root', -10, 20],
      ['outside', 'root', 60, 70],
    ])
    expect(late).toMatchObject({ root: [[20, 40]], late: [[40, 50]] })
    const running = pathOf([
      ['root', null, 0, 50],
      ['runs', 'root', 30, null],
    ])
    expect(running).toEqual({ root: [[0, 30]], runs: [[30, 50]] })
  })

  it('covers all of the time exactly once, in a chain as deep as any', () => {
    const deep = Array.from(
      { length: 5000 },
      (_, at): Given => [`d${at}`, at === 0 ? null : `d${at - 1}`, at, 20_000 - at],
    )
    const tree = treeOf(deep)
    const path = criticalPath(tree)
    const waited = [...path.values()]
      .flatMap(({ own }) => own)
      .reduce((sum, { from, to }) => sum + to - from, 0)
    expect([path.size, waited]).toEqual([5000, 20_000])
  })

  it('has nothing of an empty trace', () => {
    expect(criticalPath(treeOf([])).size).toBe(0)
  })
})

describe('foldedPath', () => {
  it('joins the times of repeated calls that are as good as one', () => {
    const reads = Array.from({ length: 30 }, (_, at): Given => [`read ${at}`, 'root', at * 10, at * 10 + 10])
    const tree = treeOf([['root', null, 0, 1000], ...reads.slice(0, 25), ['read 29', 'root', 900, 950]])
    const first = tree.placeOf.get('read 0') ?? -1
    expect(foldedPath(tree, criticalPath(tree)).get(first)).toEqual([
      { from: 0, to: 250 },
      { from: 900, to: 950 },
    ])
  })
})
