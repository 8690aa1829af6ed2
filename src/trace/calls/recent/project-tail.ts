import { risesWithTime } from '../sql/rising-id.ts'
import type { CallRow } from '../sql/table.ts'
import { createCallsByTrace } from './calls-by-trace.ts'
import { createKeptCall, forgetEvicted, isVisible, type KeptCall, mergeRow } from './kept-call.ts'
import { createPayloadSlabs } from './payload-slabs.ts'
import { createSharedTexts } from './shared-texts.ts'
import { createStartOrder } from './start-order.ts'
import { isAfter, type TimeCondition } from './time-conditions.ts'

/** How far the calls reach that are not in memory. */
export interface Bounds {
  /** No call with a greater id that rises with time (`risesWithTime`) is missing in memory. */
  id: string
  /** No call of a trace whose id is greater, and rises with time, is missing in memory. */
  traceId: string
  /** No call that started later is missing in memory; ISO 8601 in UTC with microseconds, '' where none is missing. */
  startedAt: string
}

/** Bounds that hold also when a row is not in memory, whose call then is not either. */
export function beyond(bounds: Bounds, { id, trace_id = '', started_at = '' }: BoundedRow): Bounds {
  return {
    id: greaterId(bounds.id, id),
    traceId: greaterId(bounds.traceId, trace_id),
    startedAt: started_at > bounds.startedAt ? started_at : bounds.startedAt,
  }
}

/** What moves bounds. */
type BoundedRow = Pick<CallRow, 'id' | 'trace_id' | 'started_at'>

function greaterId(bound: string, id: string): string {
  return risesWithTime(id) && id > bound ? id : bound
}

/**
 * The newest calls of one project. A call is either whole in memory, merged from all its rows, or it lies within the
 * bounds. Only a new id can be kept: of another one, the database may have rows. Ids that rise with time show that they
 * are new.
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
  /** The visible calls of a trace, in no order; undefined where only the database knows all of them. */
  ofTrace(traceId: string): Iterable<KeptCall> | undefined
  /** Whether it has at least half of the calls of the project. */
  hasMost(): boolean
  /** Whether no other call of the project meets all of these conditions. */
  hasAll(times: readonly TimeCondition[]): boolean
  /** Memory that it takes, approximately. */
  bytes(): number
}

/** @param stored the bounds of what the database has */
export function createProjectTail(stored: Bounds): ProjectTail {
  /** In the order of their first rows. */
  const calls = new Map<string, KeptCall>()
  /** Kept between evictions: a new iterator would first pass over all entries that were deleted. */
  let oldest = calls.values()
  const order = createStartOrder()
  const byTrace = createCallsByTrace()
  const memory = { slabs: createPayloadSlabs(), share: createSharedTexts() }
  /** Without payloads. */
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
    const before = known && { bytes: known.bytes, startedAt: startOf(known), traceId: known.texts.trace_id }
    const call = known ?? createKeptCall(row, memory)
    if (known === undefined) calls.set(row.id, call)
    else mergeRow(known, row, memory)
    bytes += call.bytes - (before?.bytes ?? 0)
    if (call.texts.trace_id !== before?.traceId) byTrace.moved(call, before?.traceId)
    if (startOf(call) === before?.startedAt) return
    if (before?.startedAt === undefined) order.add(call)
    else order.moved()
  }

  function isNew(id: string): boolean {
    return risesWithTime(id) && id > bounds.id
  }

  function leaveToDatabase(row: BoundedRow): void {
    elsewhere++
    bounds = beyond(bounds, row)
  }

  function evict(call: KeptCall): void {
    const { trace_id, started_at } = call.texts
    calls.delete(call.id)
    byTrace.remove(call)
    bytes -= call.bytes
    leaveToDatabase({ id: call.id, trace_id, started_at })
    forgetEvicted(call, memory.slabs)
    order.evicted()
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
      for (const call of order.newest()) {
        if ((startOf(call) ?? '') <= bounds.startedAt) return
        if (isVisible(call)) yield call
      }
    },
    ofTrace(traceId) {
      const isWhole = risesWithTime(traceId) && traceId > bounds.traceId
      return isWhole ? Iterator.from(byTrace.of(traceId)).filter(isVisible) : undefined
    },
    hasMost: () => calls.size >= elsewhere,
    hasAll: (times) =>
      bounds.startedAt === '' || times.some((condition) => isAfter(bounds.startedAt, condition)),
    bytes: () => bytes + memory.slabs.bytes(),
  }
}

/** Undefined before its start was written: an end may repeat the time. */
function startOf(call: KeptCall): string | undefined {
  return call.has_start ? call.texts.started_at : undefined
}
