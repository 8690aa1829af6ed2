import type { TraceCall } from '../../../api/trace.ts'
import { spreadOf } from '../../../components/spread.ts'

/** More calls of one name under one parent are shown as one row. */
const SHOWN_APART = 20

/** Many calls of one name under one parent. */
export interface SiblingFold {
  count: number
  /** The median of those that ended, in milliseconds; null when none has. */
  p50Ms: number | null
  /** Milliseconds since 1970: from the first start to the last end. */
  from: number
  to: number
  /** With all below; NaN where no call reports any. */
  tokens: number
  cost: number
  errors: number
}

export interface SiblingFolds {
  /** For each place the first place of its fold; -1 where it is in none. */
  firsts: Int32Array
  byFirst: ReadonlyMap<number, SiblingFold>
}

/** What of a tree tells it: arrays with a place per call. */
interface Summed {
  size: number
  calls: readonly TraceCall[]
  parents: Int32Array
  errorsBelow: Int32Array
  tokens: Float64Array
  cost: Float64Array
  end: number
}

/** Finds calls that repeat. */
export function foldSiblings(tree: Summed): SiblingFolds {
  const groups = new Map<string, number[]>()
  for (let place = 0; place < tree.size; place++) {
    const key = `${tree.parents[place]} ${tree.calls[place]?.name}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [place])
    else group.push(place)
  }
  const firsts = new Int32Array(tree.size).fill(-1)
  const byFirst = new Map<number, SiblingFold>()
  for (const places of groups.values()) {
    const [first = 0] = places
    if (places.length <= SHOWN_APART) continue
    for (const place of places) firsts[place] = first
    byFirst.set(first, foldOf(tree, places))
  }
  return { firsts, byFirst }
}

function foldOf(tree: Summed, places: readonly number[]): SiblingFold {
  const fold = {
    count: places.length,
    from: Number.POSITIVE_INFINITY,
    to: Number.NEGATIVE_INFINITY,
    tokens: sumOf(places, tree.tokens),
    cost: sumOf(places, tree.cost),
    errors: 0,
  }
  const times: number[] = []
  for (const place of places) {
    const call = tree.calls[place]
    if (call === undefined) continue
    if (call.endedMs !== null) times.push(call.endedMs - call.startedMs)
    fold.from = Math.min(fold.from, call.startedMs)
    fold.to = Math.max(fold.to, call.endedMs ?? tree.end)
    fold.errors += (tree.errorsBelow[place] ?? 0) + (call.status === 'error' ? 1 : 0)
  }
  return { ...fold, p50Ms: spreadOf(times)?.median ?? null }
}

function sumOf(places: readonly number[], values: Float64Array): number {
  const known = places.map((place) => values[place] ?? Number.NaN).filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
}
