import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { type CriticalPath, criticalPath, foldedPath } from './critical-path.ts'
import { aroundCall, type TimeView, within } from './time-axis.ts'
import type { TraceTree } from './trace-tree.ts'
import { type Found, findInTree } from './tree-search.ts'
import { initialUnfolding, reveal, type Unfolding, visibleRows } from './visible-rows.ts'

interface Options {
  /** The id of the call that is looked at. */
  selected: string
  /** What is looked for. */
  find: string
  /** Whether the critical path is shown. */
  hasPath: boolean
}

/** What is shown of a tree: which rows, which part of its time. */
export interface TreeView {
  tree: TraceTree
  /** The place of the selected call; undefined where the tree has no such call. */
  place: number | undefined
  /** The places of the visible calls, in order. */
  rows: number[]
  unfolding: Unfolding
  setUnfolding: (next: Unfolding) => void
  /** What the search found; undefined without one. */
  found: Found | undefined
  path: CriticalPath | undefined
  /** When repeated calls that are shown as one row were on the critical path, by the place of the first. */
  pathOfFolds: ReadonlyMap<number, readonly TimeView[]> | undefined
  /** The time of the whole trace. */
  whole: TimeView
  /** The time that is shown. */
  view: TimeView
  isZoomed: boolean
  /** Undefined shows all of it. */
  setView: (next: TimeView | undefined) => void
  /** Shows the time of one call, or again all of it. */
  fitTo: (at: number) => void
}

/** The state of a tree's view; it opens the parents of the selected call. */
export function useTreeView(tree: TraceTree, { selected, find, hasPath }: Options): TreeView {
  const [own, setOwn] = useState<Unfolding>()
  const unfolding = useMemo(() => own ?? initialUnfolding(tree), [own, tree])
  const text = useDeferredValue(find)
  const found = useMemo(() => findInTree(tree, text), [tree, text])
  const rows = useMemo(() => visibleRows(tree, unfolding, found?.kept), [tree, unfolding, found])
  const path = useMemo(() => (hasPath ? criticalPath(tree) : undefined), [tree, hasPath])
  const pathOfFolds = useMemo(() => (path === undefined ? undefined : foldedPath(tree, path)), [tree, path])
  const place = tree.placeOf.get(selected)
  // The selected call is shown, but closing its parents afterwards hides it.
  const isKnown = place !== undefined
  useEffect(() => {
    if (!isKnown) return
    setOwn((old) => {
      const first = old ?? initialUnfolding(tree)
      const next = reveal(tree, first, tree.placeOf.get(selected) ?? 0)
      return next === first ? old : next
    })
  }, [selected, isKnown, tree])
  const whole: TimeView = { from: tree.start, to: tree.end }
  const [zoomed, setZoomed] = useState<TimeView>()
  const view = zoomed === undefined ? whole : within(zoomed, whole)
  return {
    tree,
    place,
    rows,
    unfolding,
    setUnfolding: setOwn,
    found,
    path,
    pathOfFolds,
    whole,
    view,
    isZoomed: zoomed !== undefined,
    setView: (next) =>
      setZoomed(next !== undefined && next.to - next.from < whole.to - whole.from ? next : undefined),
    fitTo: (at) => {
      const call = tree.calls[at]
      if (call === undefined) return
      const next = aroundCall(call.startedMs, tree.finishes[at] ?? call.startedMs, whole)
      const isSame =
        zoomed !== undefined && Math.abs(zoomed.from - next.from) + Math.abs(zoomed.to - next.to) < 1e-6
      setZoomed(isSame ? undefined : next)
    },
  }
}
