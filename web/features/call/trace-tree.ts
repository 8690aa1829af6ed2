import type { CallStatus } from '../../api/call-facts.ts'

/** What a tree needs to know of a call; no payload. */
export interface TraceCall {
  id: string
  parentId: string | null
  name: string
  status: CallStatus
  /** Milliseconds since 1970; null while it runs. */
  startedMs: number
  endedMs: number | null
  /** As the call reports them: weave's clients have added what is below, OpenTelemetry's have not. */
  tokens: number | null
  cost: number | null
}

/**
 * The calls of a trace in the order of the tree: every array has a place per call, a call's descendants follow it and
 * end before `ends[place]`. So whatever is asked of the tree is a walk over arrays, however deep it is.
 */
export interface TraceTree {
  size: number
  calls: readonly TraceCall[]
  placeOf: ReadonlyMap<string, number>
  /** The place of the parent; -1 at the top. */
  parents: Int32Array
  depths: Int32Array
  ends: Int32Array
  /** Calls that failed, without the call itself. */
  errorsBelow: Int32Array
  /** With everything below; NaN where nobody told any. */
  tokens: Float64Array
  cost: Float64Array
  /** Milliseconds since 1970 at which the last of a call and all below it ended; those that run count until `end`. */
  finishes: Float64Array
  /** Milliseconds since 1970: the first start and the last known moment. */
  start: number
  end: number
  /** Calls at the top whose parent is not in the trace. */
  orphans: ReadonlySet<number>
  errors: number
}

const NONE = -1

/** @param calls by their start, so that siblings stay in that order @param now for calls that still run */
export function buildTree(calls: readonly TraceCall[], now: number): TraceTree {
  const links = linkCalls(calls)
  const size = links.size
  const tree = {
    size,
    calls: new Array<TraceCall>(size),
    placeOf: new Map<string, number>(),
    parents: new Int32Array(size),
    depths: new Int32Array(size),
    ends: new Int32Array(size),
    orphans: new Set<number>(),
  }
  let place = 0
  const open: number[] = []
  walk(links, (index, depth) => {
    const call = calls[index] as TraceCall
    for (let last = open.length; last > depth; last--) tree.ends[open.pop() as number] = place
    tree.calls[place] = call
    tree.placeOf.set(call.id, place)
    tree.parents[place] = open.at(-1) ?? NONE
    tree.depths[place] = depth
    if (depth === 0 && call.parentId !== null) tree.orphans.add(place)
    open.push(place++)
  })
  for (const last of open) tree.ends[last] = place
  return { ...tree, ...sumUp(tree, now) }
}

interface Links {
  size: number
  first: Int32Array
  next: Int32Array
  parents: Int32Array
  firstTop: number
}

/** Calls as linked lists of siblings. A parent that is not there, and one of a circle, is as if there were none. */
function linkCalls(calls: readonly TraceCall[]): Links {
  const indexes = new Map<string, number>()
  calls.forEach((call, index) => {
    if (!indexes.has(call.id)) indexes.set(call.id, index)
  })
  const parents = new Int32Array(calls.length).fill(NONE)
  calls.forEach(({ parentId }, index) => {
    if (parentId !== null) parents[index] = indexes.get(parentId) ?? NONE
  })
  cutCircles(parents)
  const first = new Int32Array(calls.length).fill(NONE)
  const next = new Int32Array(calls.length).fill(NONE)
  let firstTop = NONE
  let size = 0
  for (let index = calls.length - 1; index >= 0; index--) {
    // A call that came twice is one call.
    if (indexes.get((calls[index] as TraceCall).id) !== index) continue
    const parent = parents[index] as number
    next[index] = parent === NONE ? firstTop : (first[parent] as number)
    if (parent === NONE) firstTop = index
    else first[parent] = index
    size++
  }
  return { size, first, next, parents, firstTop }
}

/** Goes up from every call once; who is met again on the same way closes a circle. */
function cutCircles(parents: Int32Array): void {
  const seenFrom = new Int32Array(parents.length).fill(NONE)
  for (let from = 0; from < parents.length; from++) {
    let index = from
    while (index !== NONE && seenFrom[index] === NONE) {
      seenFrom[index] = from
      index = parents[index] as number
    }
    if (index !== NONE && seenFrom[index] === from) parents[index] = NONE
  }
}

function walk({ first, next, parents, firstTop }: Links, visit: (index: number, depth: number) => void): void {
  let depth = 0
  for (let index = firstTop; index !== NONE; ) {
    visit(index, depth)
    const child = first[index] as number
    if (child !== NONE) {
      index = child
      depth++
      continue
    }
    while (index !== NONE && next[index] === NONE) {
      index = parents[index] as number
      depth--
    }
    if (index !== NONE) index = next[index] as number
  }
}

/** A running call that nobody has heard of for so long has most likely been left: it does not stretch the time axis. */
const ABANDONED_MS = 10 * 60_000

type Built = Pick<TraceTree, 'size' | 'calls' | 'parents'>

function sumUp({ size, calls, parents }: Built, now: number) {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  let errors = 0
  let isRunning = false
  for (const call of calls) {
    start = Math.min(start, call.startedMs)
    end = Math.max(end, call.startedMs, call.endedMs ?? 0)
    isRunning ||= call.endedMs === null
    if (call.status === 'error') errors++
  }
  if (isRunning && now > end && now - end < ABANDONED_MS) end = now
  const sums = {
    errorsBelow: new Int32Array(size),
    tokens: new Float64Array(size).fill(Number.NaN),
    cost: new Float64Array(size).fill(Number.NaN),
    finishes: new Float64Array(size).fill(Number.NEGATIVE_INFINITY),
  }
  // Children come after their parent, so from the end each sum is complete when it is passed on.
  for (let place = size - 1; place >= 0; place--) {
    const call = calls[place] as TraceCall
    sums.tokens[place] = larger(call.tokens, sums.tokens[place])
    sums.cost[place] = larger(call.cost, sums.cost[place])
    sums.finishes[place] = Math.max(call.endedMs ?? end, sums.finishes[place] as number)
    const parent = parents[place] as number
    if (parent === NONE) continue
    sums.errorsBelow[parent]! += (sums.errorsBelow[place] as number) + (call.status === 'error' ? 1 : 0)
    sums.tokens[parent] = plus(sums.tokens[parent], sums.tokens[place])
    sums.cost[parent] = plus(sums.cost[parent], sums.cost[place])
    sums.finishes[parent] = Math.max(sums.finishes[parent] as number, sums.finishes[place] as number)
  }
  return { ...sums, start, end, errors }
}

/** What a call reports holds what is below it, or not: the larger of both is right either way. */
function larger(reported: number | null, below: number | undefined): number {
  if (reported === null) return below ?? Number.NaN
  return Math.max(reported, Number.isNaN(below) ? 0 : (below ?? 0))
}

function plus(sum: number | undefined, one: number | undefined): number {
  if (one === undefined || Number.isNaN(one)) return sum ?? Number.NaN
  return Number.isNaN(sum) ? one : (sum ?? 0) + one
}
