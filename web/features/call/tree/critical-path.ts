import type { TimeView } from './time-axis.ts'
import type { TraceTree } from './trace-tree.ts'

/** The share of one call in the duration of its trace. */
export interface PathPart {
  /** With all below it: shown where these are not. */
  whole: TimeView
  /** When it was itself on the critical path. */
  own: readonly TimeView[]
}

/** The calls on the critical path, by their places. */
export type CriticalPath = ReadonlyMap<number, PathPart>

interface Waited extends TimeView {
  place: number
}

/**
 * The critical path of the first call of a trace, as Jaeger defines it: from its end back in time, always in the child
 * that ended last before, and in the call itself where none ran. Of children that outlive their parent, the part within
 * it counts.
 */
export function criticalPath(tree: TraceTree): CriticalPath {
  const path = new Map<number, PathPart>()
  const root = tree.calls[0]
  if (root === undefined) return path
  const open: Waited[] = [{ place: 0, from: root.startedMs, to: root.endedMs ?? tree.end }]
  for (let call = open.pop(); call !== undefined; call = open.pop()) {
    const own: TimeView[] = []
    let until = call.to
    for (const child of childrenByEnd(tree, call)) {
      if (child.to > until) continue
      if (child.to < until) own.push({ from: child.to, to: until })
      open.push(child)
      until = child.from
    }
    if (until > call.from) own.push({ from: call.from, to: until })
    path.set(call.place, { whole: { from: call.from, to: call.to }, own })
  }
  return path
}

/** The children within a call, the last to end first; those without duration are left out. */
function childrenByEnd(tree: TraceTree, { place, from, to }: Waited): Waited[] {
  const children: Waited[] = []
  const end = tree.ends[place] ?? 0
  for (let at = place + 1; at < end; at = tree.ends[at] ?? end) {
    const call = tree.calls[at]
    if (call === undefined) continue
    const child = {
      place: at,
      from: Math.max(from, call.startedMs),
      to: Math.min(to, call.endedMs ?? tree.end),
    }
    if (child.to > child.from) children.push(child)
  }
  return children.sort((a, b) => b.to - a.to)
}

/** Times of a fold that are closer than this share of the trace are drawn as one. */
const JOINED_SHARE = 1 / 200

/** When any of the repeated calls was on the critical path, by the first of them. */
export function foldedPath(tree: TraceTree, path: CriticalPath): ReadonlyMap<number, readonly TimeView[]> {
  const times = new Map<number, TimeView[]>()
  for (const [place, { whole }] of path) {
    const first = tree.folds.firsts[place] ?? -1
    if (first < 0) continue
    const known = times.get(first)
    if (known === undefined) times.set(first, [whole])
    else known.push(whole)
  }
  const gapMs = (tree.end - tree.start) * JOINED_SHARE
  return new Map([...times].map(([first, each]) => [first, joined(each, gapMs)]))
}

function joined(times: TimeView[], gapMs: number): TimeView[] {
  const found: TimeView[] = []
  for (const { from, to } of times.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last !== undefined && from - last.to <= gapMs) last.to = Math.max(last.to, to)
    else found.push({ from, to })
  }
  return found
}
