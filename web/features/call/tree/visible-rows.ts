import type { TraceTree } from './trace-tree.ts'

/** Which calls show what is below them: down to a level, but for those that were opened or closed by themselves. */
export interface Unfolding {
  levels: number
  toggled: ReadonlyMap<string, boolean>
}

/** A trace with more calls opens with its first levels only. */
const SHOWN_WHOLE = 500
const LEVELS_SHOWN = 2

export function initialUnfolding({ size }: Pick<TraceTree, 'size'>): Unfolding {
  return { levels: size > SHOWN_WHOLE ? LEVELS_SHOWN : Number.POSITIVE_INFINITY, toggled: new Map() }
}

export function hasChildren(tree: TraceTree, place: number): boolean {
  return (tree.ends[place] ?? 0) > place + 1
}

export function isOpen(tree: TraceTree, { levels, toggled }: Unfolding, place: number): boolean {
  const id = tree.calls[place]?.id ?? ''
  return toggled.get(id) ?? (tree.depths[place] ?? 0) < levels
}

/**
 * The places of the calls that are shown, from the top.
 * @param kept for each place whether it is shown although its parents are closed; undefined without a search
 */
export function visibleRows(tree: TraceTree, unfolding: Unfolding, kept?: Uint8Array): number[] {
  const rows: number[] = []
  for (let place = 0; place < tree.size; ) {
    const end = tree.ends[place] ?? tree.size
    if (kept !== undefined && kept[place] === 0) {
      place = end
      continue
    }
    rows.push(place)
    // A search opens what it found, unless somebody closed it since.
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

/** Opens whatever stands between a call and the top. */
export function reveal(tree: TraceTree, unfolding: Unfolding, place: number): Unfolding {
  const above = ancestors(tree, place).filter((each) => !isOpen(tree, unfolding, each))
  if (above.length === 0) return unfolding
  const toggled = new Map(unfolding.toggled)
  for (const each of above) toggled.set(tree.calls[each]?.id ?? '', true)
  return { ...unfolding, toggled }
}

/** One level more or less of all, seen from what is open now. */
export function changeLevels(tree: TraceTree, { levels }: Unfolding, by: -1 | 1): Unfolding {
  const deepest = tree.depths.reduce((most, depth) => Math.max(most, depth), 0)
  const next = Math.min(deepest, Math.max(0, levels)) + by
  return { levels: Math.min(deepest, Math.max(0, next)), toggled: new Map() }
}

/** Only the way to a call stays open. */
export function onlyPathTo(tree: TraceTree, place: number): Unfolding {
  return reveal(tree, { levels: 0, toggled: new Map() }, place)
}

export function ancestors(tree: TraceTree, place: number): number[] {
  const above: number[] = []
  for (let each = tree.parents[place] ?? -1; each >= 0; each = tree.parents[each] ?? -1) above.push(each)
  return above
}
