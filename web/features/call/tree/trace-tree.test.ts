import { describe, expect, it } from 'vitest'
import type { TraceCall } from '../../../api/trace.ts'
import { buildTree, type TraceTree } from './trace-tree.ts'
import { findInTree, nextPlace } from './tree-search.ts'
import { changeLevels, initialUnfolding, onlyPathTo, reveal, toggle, visibleRows } from './visible-rows.ts'

const NOW = 2_000_000

/** The same numbers in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function call(id: string, parentId: string | null, startedMs = 0, more: Partial<TraceCall> = {}): TraceCall {
  const rest = { name: `op ${id}`, status: 'ok' as const, endedMs: startedMs + 1, tokens: new Map() }
  return { id, parentId, startedMs, ...rest, ...more }
}

/** Any calls: some parents are missing, some come later than their children, some still run. */
function forest(size: number, seed: number): TraceCall[] {
  const next = random(seed)
  const calls = Array.from({ length: size }, (_, index) => {
    const parent = next() < 0.1 ? null : next() < 0.05 ? 'missing' : `c${Math.floor(next() * size)}`
    const startedMs = Math.floor(next() * 1000)
    return call(`c${index}`, parent === `c${index}` ? null : parent, startedMs, {
      endedMs: next() < 0.1 ? null : startedMs + Math.floor(next() * 100),
      status: next() < 0.2 ? 'error' : 'ok',
      tokens: new Map(next() < 0.4 ? [[next() < 0.5 ? 'm' : 'n', Math.floor(next() * 50)]] : []),
      name: `op ${Math.floor(next() * 5)}`,
    })
  })
  return calls.sort((a, b) => a.startedMs - b.startedMs)
}

interface SlowNode {
  call: TraceCall
  children: SlowNode[]
}

/** What the tree must be, as the plain recursive text of its definition; for calls without circles. */
function slowTree(calls: readonly TraceCall[]): SlowNode[] {
  const below = (parent: TraceCall): SlowNode[] =>
    calls.filter(({ parentId }) => parentId === parent.id).map(node)
  const node = (each: TraceCall): SlowNode => ({ call: each, children: below(each) })
  const known = new Set(calls.map(({ id }) => id))
  const roots = calls.filter(({ parentId }) => parentId === null)
  const orphans = calls.filter(({ parentId }) => parentId !== null && !known.has(parentId))
  return [...roots, ...orphans].map(node)
}

const flat = (nodes: readonly SlowNode[], depth = 0): { node: SlowNode; depth: number }[] =>
  nodes.flatMap((node) => [{ node, depth }, ...flat(node.children, depth + 1)])

const errorsIn = (nodes: readonly SlowNode[]): number =>
  nodes.reduce(
    (sum, { call: { status }, children }) => sum + (status === 'error' ? 1 : 0) + errorsIn(children),
    0,
  )

function tokensOf(model: string, { call: { tokens }, children }: SlowNode): number {
  const own = tokens.get(model) ?? Number.NaN
  const below = children.map((child) => tokensOf(model, child)).filter((each) => !Number.isNaN(each))
  if (below.length === 0) return own
  const sum = below.reduce((a, b) => a + b)
  return Number.isNaN(own) ? sum : own >= sum ? own : own + sum
}

function allTokensOf(node: SlowNode): number {
  const known = ['m', 'n'].map((model) => tokensOf(model, node)).filter((each) => !Number.isNaN(each))
  return known.length === 0 ? Number.NaN : known.reduce((a, b) => a + b)
}

const finishOf = (end: number, { call: { endedMs }, children }: SlowNode): number =>
  Math.max(endedMs ?? end, ...children.map((child) => finishOf(end, child)))

/** Without those below themselves, which the slow tree cannot hold. */
function withoutCircles(calls: readonly TraceCall[]): TraceCall[] {
  const byId = new Map(calls.map((each) => [each.id, each]))
  return calls.map((each) => {
    const seen = new Set([each.id])
    for (let up = each.parentId; up !== null; up = byId.get(up)?.parentId ?? null) {
      if (seen.has(up)) return { ...each, parentId: null }
      seen.add(up)
    }
    return each
  })
}

function check(calls: readonly TraceCall[], tree: TraceTree): void {
  const expected = flat(slowTree(calls))
  expect(tree.calls.map(({ id }) => id)).toEqual(expected.map(({ node }) => node.call.id))
  expect([...tree.depths]).toEqual(expected.map(({ depth }) => depth))
  expect([...tree.ends]).toEqual(expected.map(({ node }, place) => place + flat([node]).length))
  expect([...tree.errorsBelow]).toEqual(expected.map(({ node }) => errorsIn(node.children)))
  expect([...tree.tokens]).toEqual(expected.map(({ node }) => allTokensOf(node)))
  expect([...tree.finishes]).toEqual(expected.map(({ node }) => finishOf(tree.end, node)))
}

describe('buildTree', () => {
  it('is what the recursive definition says, for forests of any shape', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const calls = withoutCircles(forest(seed * 3, seed))
      check(calls, buildTree(calls, NOW))
    }
  })

  it('holds every call once when calls are below themselves', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const calls = forest(60, seed * 7)
      const tree = buildTree(calls, NOW)
      expect(new Set(tree.calls.map(({ id }) => id)).size).toBe(60)
      expect(tree.size).toBe(60)
      for (let place = 0; place < tree.size; place++) expect(tree.parents[place]).toBeLessThan(place)
    }
    const own = buildTree([call('a', 'a'), call('b', 'c'), call('c', 'b'), call('d', 'c')], NOW)
    expect(own.calls.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
    expect([...own.depths]).toEqual([0, 0, 1, 2])
    expect([...own.orphans]).toEqual([0, 1])
  })

  it('takes chains of thousands and rows of thousands', () => {
    const deep = Array.from({ length: 50_000 }, (_, at) => call(`d${at}`, at === 0 ? null : `d${at - 1}`, at))
    const wide = Array.from({ length: 50_000 }, (_, at) => call(`w${at}`, 'd0', 60_000 + at))
    const tree = buildTree([...deep, ...wide], NOW)
    expect(tree.depths[49_999]).toBe(49_999)
    expect(tree.depths[50_000]).toBe(1)
    expect(tree.ends[0]).toBe(100_000)
    expect(tree.finishes[0]).toBe(110_000)
  })

  it('lets a running call last until now, but not when it was left long ago', () => {
    const calls = [call('a', null, 0, { endedMs: null }), call('b', 'a', 1000)]
    expect(buildTree(calls, 5000).end).toBe(5000)
    expect(buildTree(calls, 5_000_000).end).toBe(1001)
  })

  it('adds up costs, but not twice where a client has done so', () => {
    const calls = [call('a', null), call('b', 'a'), call('c', 'b'), call('d', 'a')]
    const costs = new Map([
      ['b', new Map([['m', 3]])],
      ['c', new Map([['m', 2]])],
      ['d', new Map([['m', 1]])],
    ])
    expect([...buildTree(calls, NOW, { costs }).cost]).toEqual([4, 3, 2, 1])
    // Less than what is below, or of another model: that of the call alone.
    costs.set('a', new Map([['m', 2]]))
    costs.set('c', new Map([['n', 2]]))
    expect([...buildTree(calls, NOW, { costs }).cost]).toEqual([8, 5, 2, 1])
    expect([...buildTree(calls, NOW).cost]).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN])
  })

  it('is empty without calls', () => {
    expect(buildTree([], NOW)).toMatchObject({ size: 0, start: NOW, end: NOW, errors: 0 })
  })
})

describe('visibleRows', () => {
  const shown = (tree: TraceTree, rows: readonly number[]) => rows.map((place) => tree.calls[place]?.id)
  const tree = buildTree(
    [
      call('r', null),
      call('a', 'r', 1),
      call('b', 'a', 2),
      call('c', 'b', 3),
      call('d', 'r', 4),
      call('e', 'd', 5),
    ],
    NOW,
  )

  it('shows all of a small trace, two levels of a large one', () => {
    expect(visibleRows(tree, initialUnfolding(tree))).toHaveLength(6)
    const apart = forest(3000, 5).map((each) => ({ ...each, name: each.id }))
    const large = buildTree(apart, NOW)
    const rows = visibleRows(large, initialUnfolding(large))
    expect(rows.every((place) => (large.depths[place] ?? 9) <= 2)).toBe(true)
    expect(rows.length).toBe([...large.depths].filter((depth) => depth <= 2).length)
  })

  it('opens and closes one, a level, and all but one way', () => {
    const all = initialUnfolding(tree)
    expect(shown(tree, visibleRows(tree, toggle(tree, all, 1, false)))).toEqual(['r', 'a', 'd', 'e'])
    expect(shown(tree, visibleRows(tree, changeLevels(tree, all, -1)))).toEqual(['r', 'a', 'b', 'd', 'e'])
    const two = changeLevels(tree, changeLevels(tree, all, -1), -1)
    expect(shown(tree, visibleRows(tree, two))).toEqual(['r', 'a', 'd'])
    expect(shown(tree, visibleRows(tree, changeLevels(tree, two, 1)))).toEqual(['r', 'a', 'b', 'd', 'e'])
    expect(shown(tree, visibleRows(tree, onlyPathTo(tree, 2)))).toEqual(['r', 'a', 'b', 'd'])
    expect(shown(tree, visibleRows(tree, reveal(tree, two, 3)))).toEqual(['r', 'a', 'b', 'c', 'd'])
  })

  it('shows what a search found with what is above it', () => {
    const found = findInTree(tree, 'op c')
    expect(found?.hits).toEqual([3])
    expect(
      shown(tree, visibleRows(tree, { levels: 0, toggled: new Map(), repeated: new Set() }, found?.kept)),
    ).toEqual(['r', 'a', 'b', 'c'])
    expect(findInTree(tree, '  ')).toBeUndefined()
  })
})

describe('findInTree', () => {
  it('finds by the declared kind, and by what a name sounds like only where none is declared', () => {
    const calls = [call('a', null, 0, { name: 'search' }), call('b', 'a', 1, { name: 'search' })]
    const tree = buildTree(calls, NOW, { kinds: new Map([['b', 'tool']]) })
    expect(findInTree(tree, 'kind:tool')?.hits).toEqual([1])
    expect(findInTree(tree, 'kind:search')?.hits).toEqual([0])
    expect(findInTree(tree, 'kind:nothing')?.hits).toEqual([])
  })

  it('finds by words, patterns, status, kind and length, as a walk over all calls does', () => {
    const tree = buildTree(forest(400, 11), NOW)
    const hits = (text: string) => findInTree(tree, text)?.hits
    const places = (test: (each: TraceCall) => boolean) =>
      tree.calls.flatMap((each, place) => (test(each) ? [place] : []))
    expect(hits('OP 3')).toEqual(places(({ name }) => name === 'op 3'))
    expect(hits('/op [12]/')).toEqual(places(({ name }) => name === 'op 1' || name === 'op 2'))
    expect(hits('/op [12')).toEqual([])
    expect(hits('status:error op 1')).toEqual(
      places(({ name, status }) => name === 'op 1' && status === 'error'),
    )
    expect(hits('>50ms')).toEqual(places(({ startedMs, endedMs }) => (endedMs ?? tree.end) - startedMs > 50))
    expect(hits('>0.05s')).toEqual(hits('>50'))
    expect(hits('kind:agent')).toEqual([])
  })

  it('goes to the next and round the ends', () => {
    const tree = buildTree([call('a', null), call('b', 'a'), call('c', 'a')], NOW)
    expect(nextPlace(tree, 2, 1, (place) => place !== 0)).toBe(1)
    expect(nextPlace(tree, 0, -1, () => true)).toBe(2)
    expect(nextPlace(tree, 0, 1, () => false)).toBeUndefined()
  })
})
