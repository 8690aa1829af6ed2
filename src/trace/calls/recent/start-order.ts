import type { KeptCall } from './kept-call.ts'

/**
 * Calls in the order of lists by start time. New calls mostly start last, so they are merged into the order from its
 * end.
 */
export interface StartOrder {
  add(call: KeptCall): void
  /** To be called when the start time of a call that was added has changed. */
  moved(): void
  /** To be called for each call that is evicted. */
  evicted(): void
  /** Newest first, without those that were evicted; to be read before anything is added. */
  newest(): Iterable<KeptCall>
}

/** So many calls that were evicted, and as many as a quarter of all, are removed from the order at once. */
const EVICTED_MAX = 64

export function createStartOrder(): StartOrder {
  /** Oldest first; evicted calls are among them. */
  let order: KeptCall[] = []
  /** Since `order` was last sorted. */
  let added: KeptCall[] = []
  let isSorted = true
  let evicted = 0

  function sorted(): readonly KeptCall[] {
    if (!isSorted) order = [...order, ...added].filter(isKept).sort(oldestFirst)
    else if (added.length > 0) mergeInto(order, added.sort(oldestFirst))
    isSorted = true
    added = []
    return order
  }

  return {
    add: (call) => void added.push(call),
    moved: () => (isSorted = false),
    evicted() {
      evicted++
      if (evicted <= (order.length + added.length) / 4 + EVICTED_MAX) return
      order = order.filter(isKept)
      added = added.filter(isKept)
      evicted = 0
    },
    *newest() {
      const calls = sorted()
      for (let at = calls.length - 1; at >= 0; at--) {
        const call = calls[at]
        if (call !== undefined && isKept(call)) yield call
      }
    },
  }
}

/**
 * Merges one sorted list into another, from the end: it takes as many steps as calls of it start after the first that
 * is added.
 */
function mergeInto(order: KeptCall[], added: readonly KeptCall[]): void {
  let from = order.length - 1
  let next = added.length - 1
  for (const call of added) order.push(call)
  for (let to = order.length - 1; next >= 0; to--) {
    const [before, call] = [order[from], added[next]]
    const isBefore = before === undefined || call === undefined || oldestFirst(before, call) <= 0
    const placed = isBefore ? call : before
    if (isBefore) next--
    else from--
    if (placed !== undefined) order[to] = placed
  }
}

function isKept(call: KeptCall): boolean {
  return !call.isEvicted
}

/** The order of lists by start time. */
export function oldestFirst(one: KeptCall, other: KeptCall): number {
  const [first, second] = [one.texts.started_at ?? '', other.texts.started_at ?? '']
  if (first !== second) return first < second ? -1 : 1
  return one.id < other.id ? -1 : 1
}
