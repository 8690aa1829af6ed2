import { kindNamed, type OpKind } from '../../../api/op-kinds.ts'
import { kindOf } from './op-kind.ts'
import type { TraceTree } from './trace-tree.ts'

/** What is looked for in a tree: words, or what a call is. */
interface Wanted {
  matches: (name: string) => boolean
  /** `unknown` is a word that names no kind, and finds nothing. */
  kind: OpKind | 'unknown' | undefined
  status: string | undefined
  longerMs: number
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 }

/** `chat`, `/^tool\./`, `kind:llm`, `status:error`, `>2s`, and all of these together. */
function parse(text: string): Wanted {
  const words: string[] = []
  const wanted: Wanted = { matches: () => true, kind: undefined, status: undefined, longerMs: -1 }
  for (const word of text.trim().split(/\s+/)) {
    const [, field, value] = /^(kind|status):(.+)$/.exec(word) ?? []
    const [, amount, unit = 'ms'] = /^>([\d.]+)(ms|s|m)?$/.exec(word) ?? []
    if (field === 'kind') wanted.kind = kindNamed(value ?? '') ?? 'unknown'
    else if (field === 'status') wanted.status = value
    else if (amount !== undefined) wanted.longerMs = Number(amount) * (UNITS[unit] ?? 1)
    else words.push(word)
  }
  return { ...wanted, matches: matcher(words.join(' ')) }
}

function matcher(text: string): (name: string) => boolean {
  const pattern = /^\/(.+)\/$/.exec(text)?.[1]
  if (pattern !== undefined) {
    try {
      const expression = new RegExp(pattern, 'i')
      return (name) => expression.test(name)
    } catch {
      // An incomplete pattern is searched for as text.
    }
  }
  const lower = text.toLowerCase()
  return (name) => name.toLowerCase().includes(lower)
}

export interface Found {
  /** In the order of the tree. */
  hits: number[]
  /** Hits and what is above them. */
  kept: Uint8Array
}

/** @returns undefined when nothing is looked for */
export function findInTree(tree: TraceTree, text: string): Found | undefined {
  if (text.trim() === '') return undefined
  const wanted = parse(text)
  const isNamed = remembering(wanted.matches)
  const hits: number[] = []
  const kept = new Uint8Array(tree.size)
  for (const [place, call] of tree.calls.entries()) {
    if (!isNamed(call.name) && call.id !== text) continue
    if (wanted.status !== undefined && call.status !== wanted.status) continue
    if (wanted.kind !== undefined && kindOf(tree, place) !== wanted.kind) continue
    if (wanted.longerMs >= 0 && (call.endedMs ?? tree.end) - call.startedMs <= wanted.longerMs) continue
    hits.push(place)
    kept[place] = 1
  }
  for (let place = tree.size - 1; place > 0; place--) {
    const parent = tree.parents[place] ?? -1
    if (kept[place] === 1 && parent >= 0) kept[parent] = 1
  }
  return { hits, kept }
}

/** A trace has thousands of calls but few names. */
function remembering(matches: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>()
  return (name) => {
    const answer = known.get(name) ?? matches(name)
    known.set(name, answer)
    return answer
  }
}

/** The next place after `from`, or before it, for which the test holds; goes round at the ends. */
export function nextPlace(
  tree: TraceTree,
  from: number,
  by: -1 | 1,
  test: (place: number) => boolean,
): number | undefined {
  for (let step = 1; step <= tree.size; step++) {
    const place = (from + by * step + tree.size * 2) % tree.size
    if (test(place)) return place
  }
  return undefined
}
