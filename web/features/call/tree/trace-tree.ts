import type { ByModel } from '../../../api/call-facts.ts'
import type { OpKind } from '../../../api/op-kinds.ts'
import type { TraceCall } from '../../../api/trace.ts'
import { foldSiblings, type SiblingFolds } from './sibling-folds.ts'

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
  /** With everything below; NaN where no call reports any. */
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
  /** Calls that repeat beside one another. */
  folds: SiblingFolds
  /** What calls declare to be, by id. */
  kinds: Kinds
}

const NONE = -1

/** Of the calls that have one, by id. */
export type Costs = ReadonlyMap<string, ByModel>

/** What calls declare to be, by id. */
export type Kinds = ReadonlyMap<string, OpKind>

const NOTHING = new Map<string, never>()

/** @param calls by their start, so that siblings stay in that order @param now for calls that still run */
export function buildTree(
  calls: readonly TraceCall[],
  now: number,
  { costs = NOTHING, kinds = NOTHING }: { costs?: Costs | undefined; kinds?: Kinds | undefined } = {},
): TraceTree {
  const order = inTreeOrder(linkCalls(calls))
  const size = order.length
  const tree = {
    size,
    calls: order.flatMap(({ index }) => calls[index] ?? []),
    placeOf: new Map<string, number>(),
    parents: new Int32Array(size),
    depths: new Int32Array(size),
    ends: new Int32Array(size).fill(size),
    orphans: new Set<number>(),
  }
  const open: number[] = []
  for (const [place, call] of tree.calls.entries()) {
    const depth = order[place]?.depth ?? 0
    for (const last of open.splice(depth)) tree.ends[last] = place
    tree.placeOf.set(call.id, place)
    tree.parents[place] = open.at(-1) ?? NONE
    tree.depths[place] = depth
    if (depth === 0 && call.parentId !== null) tree.orphans.add(place)
    open.push(place)
  }
  const summed = { ...tree, ...sumUp(tree, now, costs) }
  return { ...summed, folds: foldSiblings(summed), kinds }
}

/** Calls by their index, as linked lists of siblings. */
interface Links {
  first: Int32Array
  next: Int32Array
  parents: Int32Array
  firstTop: number
}

/** A missing parent, and one of a circle, is ignored; such calls come after the true roots. */
function linkCalls(calls: readonly TraceCall[]): Links {
  const indexes = new Map<string, number>()
  for (const [index, { id }] of calls.entries()) if (!indexes.has(id)) indexes.set(id, index)
  const parents = new Int32Array(calls.length).fill(NONE)
  for (const [index, { parentId }] of calls.entries())
    if (parentId !== null) parents[index] = indexes.get(parentId) ?? NONE
  cutCircles(parents)
  const first = new Int32Array(calls.length).fill(NONE)
  const next = new Int32Array(calls.length).fill(NONE)
  let firstRoot = NONE
  let firstOrphan = NONE
  let lastRoot = NONE
  for (let index = calls.length - 1; index >= 0; index--) {
    const call = calls[index]
    // A call that came twice is one call.
    if (call === undefined || indexes.get(call.id) !== index) continue
    const parent = parents[index] ?? NONE
    if (parent !== NONE) {
      next[index] = first[parent] ?? NONE
      first[parent] = index
    } else if (call.parentId !== null) {
      next[index] = firstOrphan
      firstOrphan = index
    } else {
      if (lastRoot === NONE) lastRoot = index
      next[index] = firstRoot
      firstRoot = index
    }
  }
  if (lastRoot !== NONE) next[lastRoot] = firstOrphan
  return { first, next, parents, firstTop: lastRoot === NONE ? firstOrphan : firstRoot }
}

/** Follows parents up from every call once; meeting a call of the same walk again closes a circle. */
function cutCircles(parents: Int32Array): void {
  const seenFrom = new Int32Array(parents.length).fill(NONE)
  for (let from = 0; from < parents.length; from++) {
    let index = from
    for (; index !== NONE && seenFrom[index] === NONE; index = parents[index] ?? NONE) seenFrom[index] = from
    if (seenFrom[index] === from) parents[index] = NONE
  }
}

function inTreeOrder({ first, next, parents, firstTop }: Links): { index: number; depth: number }[] {
  const order: { index: number; depth: number }[] = []
  let depth = 0
  for (let index = firstTop; index !== NONE; ) {
    order.push({ index, depth })
    const child = first[index] ?? NONE
    if (child !== NONE) {
      index = child
      depth++
      continue
    }
    for (; index !== NONE && next[index] === NONE; depth--) index = parents[index] ?? NONE
    if (index !== NONE) index = next[index] ?? NONE
  }
  return order
}

/** A running call without news for this long has most likely been abandoned: it does not stretch the time axis. */
export const ABANDONED_MS = 10 * 60_000

type Built = Pick<TraceTree, 'size' | 'calls' | 'parents'>

function sumUp(tree: Built, now: number, costs: Costs) {
  const span = spanOf(tree.calls, now)
  const errorsBelow = new Int32Array(tree.size)
  const finishes = new Float64Array(tree.size).fill(Number.NEGATIVE_INFINITY)
  let errors = 0
  // Children come after their parent, so from the end each sum is complete when it is passed on.
  for (let place = tree.size - 1; place >= 0; place--) {
    const call = tree.calls[place]
    if (call === undefined) continue
    const failed = call.status === 'error' ? 1 : 0
    errors += failed
    raise(finishes, place, call.endedMs ?? span.end)
    const parent = tree.parents[place] ?? NONE
    if (parent === NONE) continue
    errorsBelow[parent] = (errorsBelow[parent] ?? 0) + (errorsBelow[place] ?? 0) + failed
    raise(finishes, parent, finishes[place])
  }
  const tokens = sumByModel(tree, (call) => call.tokens)
  const cost = sumByModel(tree, (call) => costs.get(call.id))
  return { ...span, errorsBelow, tokens, cost, finishes, errors }
}

function spanOf(calls: readonly TraceCall[], now: number): { start: number; end: number } {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  let isRunning = false
  for (const call of calls) {
    start = Math.min(start, call.startedMs)
    end = Math.max(end, call.startedMs, call.endedMs ?? 0)
    isRunning ||= call.endedMs === null
  }
  if (isRunning && now > end && now - end < ABANDONED_MS) end = now
  return calls.length === 0 ? { start: now, end: now } : { start, end }
}

function raise(values: Float64Array, place: number, value = Number.NEGATIVE_INFINITY): void {
  values[place] = Math.max(values[place] ?? value, value)
}

/** What each call and all below it come to; NaN where none of them reports any. */
function sumByModel(
  { size, calls, parents }: Built,
  ownOf: (call: TraceCall) => ByModel | undefined,
): Float64Array {
  const totals = new Float64Array(size).fill(Number.NaN)
  const below = new Map<number, Map<string, number>>()
  // Children come after their parent.
  for (let place = size - 1; place >= 0; place--) {
    const call = calls[place]
    const total = withOwn(call && ownOf(call), below.get(place))
    below.delete(place)
    if (total.size === 0) continue
    totals[place] = total.values().reduce((sum, count) => sum + count, 0)
    const parent = parents[place] ?? NONE
    if (parent === NONE) continue
    const sums = below.get(parent) ?? new Map<string, number>()
    for (const [model, count] of total) sums.set(model, (sums.get(model) ?? 0) + count)
    below.set(parent, sums)
  }
  return totals
}

/**
 * A call's own report may or may not include the calls below it. One that is smaller than theirs cannot: both are added
 * up. Of any other it is not known, and to count twice what clients have added up already would be worse.
 */
function withOwn(own: ByModel | undefined, below: ByModel = NOTHING): ByModel {
  if (own === undefined || own.size === 0) return below
  const total = new Map(below)
  for (const [model, count] of own) {
    const sum = below.get(model) ?? 0
    total.set(model, count >= sum ? count : count + sum)
  }
  return total
}
