import type { TraceTree } from './trace-tree.ts'

/** Which calls show what is below them: down to a level, but for those that were opened or closed by themselves. */
export interface Unfolding {
  levels: number
  toggled: ReadonlyMap<string, boolean>
  /** The first calls of repeated ones that are shown one by one. */
  repeated: ReadonlySet<string>
}

const NO_REPEATED: ReadonlySet<string> = new Set()

/** A trace with more calls opens with its first levels only. */
const SHOWN_WHOLE = 500
const LEVELS_SHOWN = 2

export function initialUnfolding({ size }: Pick<TraceTree, 'size'>): Unfolding {
  return {
    levels: size > SHOWN_WHOLE ? LEVELS_SHOWN : Number.POSITIVE_INFINITY,
    toggled: new Map(),
    repeated: NO_REPEATED,
  }
}

export function hasChildren(tree: TraceTree, place: number): boolean {
  return (tree.ends[place] ?? 0) > place + 1
}

export function isOpen(tree: TraceTree, { levels, toggled }: Unfolding, place: number): boolean {
  const id = tree.calls[place]?.id ?? ''
  return toggled.get(id) ?? (tree.depths[place] ?? 0) < levels
}

/** Whether this one row stands for all calls that are repeated. */
export function isFold(tree: TraceTree, { repeated }: Unfolding, place: number): boolean {
  return tree.folds.byFirst.has(place) && !repeated.has(tree.calls[place]?.id ?? '')
}

/**
 * The places of the calls that are shown, from the top.
 * @param kept for each place whether it is shown although its parents are closed; undefined without a search, which
 * also
 *   shows repeated calls one by one
 */
export function visibleRows(tree: TraceTree, unfolding: Unfolding, kept?: Uint8Array): number[] {
  const rows: number[] = []
  for (let place = 0; place < tree.size; ) {
    const end = tree.ends[place] ?? tree.size
    const first = tree.folds.firsts[place] ?? -1
    const isFolded = kept === undefined && first >= 0 && isFold(tree, unfolding, first)
    if (isFolded) {
      if (first === place) rows.push(place)
      place = end
      continue
    }
    if (kept !== undefined && kept[place] === 0) {
      place = end
      continue
    }
    rows.push(place)
    // A search opens its hits, unless a person closed them since.
    const opens =
      kept === undefined
        ? isOpen(tree, unfolding, place)
        : unfolding.toggled.get(tree.calls[place]?.id ?? '') !== false
    place = opens ? place + 1 : end
  }
  return rows
}

export function toggle(tree: TraceTree, unfolding: Unfolding, place: number, open: boolean): Unfolding {
  const toggled = new Map(unfolding.toggled)
  toggled.set(tree.calls[place]?.id ?? '', open)
  return { ...unfolding, toggled }
}

/** Shows calls that are repeated one by one, or as one row again. @param first of them */
export function toggleRepeated(
  tree: TraceTree,
  unfolding: Unfolding,
  first: number,
  open: boolean,
): Unfolding {
  const repeated = new Set(unfolding.repeated)
  const id = tree.calls[first]?.id ?? ''
  if (open) repeated.add(id)
  else repeated.delete(id)
  return { ...unfolding, repeated }
}

/** Opens whatever stands between a call and the top. */
export function reveal(tree: TraceTree, unfolding: Unfolding, place: number): Unfolding {
  const above = ancestors(tree, place)
  const closed = above.filter((each) => !isOpen(tree, unfolding, each))
  // The row of a fold is its first call's, so only what is below or beside that one is hidden by it.
  const folded = [place, ...above]
    .map((each) => ({ each, first: tree.folds.firsts[each] ?? -1 }))
    .filter(({ each, first }) => first >= 0 && (each !== place || first !== place))
    .filter(({ first }) => isFold(tree, unfolding, first))
  if (closed.length + folded.length === 0) return unfolding
  const toggled = new Map(unfolding.toggled)
  for (const each of closed) toggled.set(tree.calls[each]?.id ?? '', true)
  const repeated = new Set(unfolding.repeated)
  for (const { first } of folded) repeated.add(tree.calls[first]?.id ?? '')
  return { ...unfolding, toggled, repeated }
}

/** One level more or less of all, seen from what is open now. */
export function changeLevels(tree: TraceTree, { levels }: Unfolding, by: -1 | 1): Unfolding {
  const deepest = tree.depths.reduce((most, depth) => Math.max(most, depth), 0)
  const next = Math.min(deepest, Math.max(0, levels)) + by
  return { levels: Math.min(deepest, Math.max(0, next)), toggled: new Map(), repeated: NO_REPEATED }
}

/** Only the way to a call stays open. */
export function onlyPathTo(tree: TraceTree, place: number): Unfolding {
  return reveal(tree, { levels: 0, toggled: new Map(), repeated: NO_REPEATED }, place)
}

export function ancestors(tree: TraceTree, place: number): number[] {
  const above: number[] = []
  for (let each = tree.parents[place] ?? -1; each >= 0; each = tree.parents[each] ?? -1) above.push(each)
  return above
}
