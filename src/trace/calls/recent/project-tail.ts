import { risesWithTime } from '../sql/rising-id.ts'
import type { CallRow } from '../sql/table.ts'
import { createKeptCall, isVisible, type KeptCall, mergeRow } from './kept-call.ts'
import { isAfter, type TimeCondition } from './time-conditions.ts'

/** How far the calls reach that are not in memory. */
export interface Bounds {
  /** No call with a greater id that rises with time (`risesWithTime`) is missing in memory. */
  id: string
  /** No call that started later is missing in memory; ISO 8601 in UTC with microseconds, '' where none is missing. */
  startedAt: string
}

/** Bounds that hold also when a row is not in memory, whose call then is not either. */
export function beyond(bounds: Bounds, { id, started_at = '' }: Pick<CallRow, 'id' | 'started_at'>): Bounds {
  return {
    id: risesWithTime(id) && id > bounds.id ? id : bounds.id,
    startedAt: started_at > bounds.startedAt ? started_at : bounds.startedAt,
  }
}

/**
 * The newest calls of one project. A call is either whole in memory, merged from all its rows, or it lies within the bounds.
 * Only a new id can be kept: of another one, the database may have rows. Ids that rise with time show that they are new.
 */
export interface ProjectTail {
  /** Takes rows that were written, in the order in which they were. */
  written(rows: readonly CallRow[]): void
  /** Takes rows of which it is not known whether they were written, or whether the bounds have them. */
  uncertain(rows: readonly CallRow[]): void
  /** Removes the call that was written first; false where there is none. */
  evictOldest(): boolean
  /** A call; null where there is none, undefined where only the database knows. */
  find(id: string): KeptCall | null | undefined
  /** The visible calls that are newer than all others, newest first. */
  newest(): Iterable<KeptCall>
  /** Whether it has at least half of the calls of the project. */
  hasMost(): boolean
  /** Whether no other call of the project meets all of these conditions. */
  hasAll(times: readonly TimeCondition[]): boolean
  /** Memory that it takes, approximately. */
  bytes(): number
}

/** The order of calls has this many entries of evicted calls before it is made anew. */
const EVICTED_MAX = 1000

/** @param stored the bounds of what the database has */
export function createProjectTail(stored: Bounds): ProjectTail {
  /** In the order of their first rows. */
  const calls = new Map<string, KeptCall>()
  /** Kept between evictions: a new iterator would first pass over all entries that were deleted. */
  let oldest = calls.values()
  /** Started calls, in the order of lists where `isSorted`; evicted ones are among them. */
  let order: KeptCall[] = []
  let isSorted = true
  let bytes = 0
  let bounds = stored
  /** Rows of calls that are not in memory. */
  let elsewhere = stored.startedAt === '' ? 0 : Number.POSITIVE_INFINITY

  function writeOne(row: CallRow): void {
    const known = calls.get(row.id)
    if (known === undefined && !isNew(row.id)) {
      leaveToDatabase(row)
      return
    }
    const before = known && { bytes: known.bytes, startedAt: startOf(known) }
    const call = known ?? createKeptCall(row)
    if (known === undefined) calls.set(row.id, call)
    else mergeRow(known, row)
    bytes += call.bytes - (before?.bytes ?? 0)
    if (startOf(call) === before?.startedAt) return
    if (before?.startedAt === undefined) order.push(call)
    isSorted = false
  }

  function isNew(id: string): boolean {
    return risesWithTime(id) && id > bounds.id
  }

  function leaveToDatabase(row: Pick<CallRow, 'id' | 'started_at'>): void {
    elsewhere++
    bounds = beyond(bounds, row)
  }

  function evict(call: KeptCall): void {
    calls.delete(call.id)
    bytes -= call.bytes
    leaveToDatabase({ id: call.id, started_at: call.texts.started_at })
    // The order still refers to it.
    call.payloads = undefined
    if (order.length > 2 * calls.size + EVICTED_MAX) order = order.filter(isKept)
  }

  function isKept(call: KeptCall): boolean {
    return calls.get(call.id) === call
  }

  return {
    written(rows) {
      for (const row of rows) writeOne(row)
    },
    uncertain(rows) {
      for (const row of rows) {
        const call = calls.get(row.id)
        if (call !== undefined) evict(call)
        leaveToDatabase(row)
      }
    },
    evictOldest() {
      let call = oldest.next().value
      if (call === undefined) {
        oldest = calls.values()
        call = oldest.next().value
      }
      if (call !== undefined) evict(call)
      return call !== undefined
    },
    find(id) {
      return calls.get(id) ?? (isNew(id) ? null : undefined)
    },
    *newest() {
      if (!isSorted) order = order.filter(isKept).sort(newestFirst)
      isSorted = true
      for (const call of order) {
        if ((startOf(call) ?? '') <= bounds.startedAt) return
        if (isKept(call) && isVisible(call)) yield call
      }
    },
    hasMost: () => calls.size >= elsewhere,
    hasAll: (times) =>
      bounds.startedAt === '' || times.some((condition) => isAfter(bounds.startedAt, condition)),
    bytes: () => bytes,
  }
}

/** Undefined before its start was written: an end may repeat the time. */
function startOf(call: KeptCall): string | undefined {
  return call.has_start ? call.texts.started_at : undefined
}

function newestFirst(one: KeptCall, other: KeptCall): number {
  const [first, second] = [startOf(one) ?? '', startOf(other) ?? '']
  if (first !== second) return first > second ? -1 : 1
  return one.id > other.id ? -1 : 1
}
