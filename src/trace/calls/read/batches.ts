import { firstOf, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { wholeRows } from '../../../stores/trace-db/row-binary.ts'
import { wholeLines } from '../../../stores/trace-db/whole-lines.ts'
import { inBatches } from '../../batches.ts'
import { finishLines } from '../render/by-database.ts'
import { renderRows, renderRowsById } from '../render/by-server.ts'
import { type List, shownCalls } from './list.ts'
import { mayReadRanges, rendererOf } from './plan.ts'
import * as queries from './queries.ts'
import { type CallRange, type FoundCall, rangeOf } from './ranges.ts'
import { readOn } from './read-on.ts'

const PER_BATCH = {
  /** Payloads of a list that are in memory at once, but for a single larger call. */
  bytes: 16 * 1024 * 1024,
  /** Calls fetched at once: their ids travel to the database with the query. */
  count: 10_000,
}

/** Batches that are read at once, of which the first is sent meanwhile: a query alone does not keep two cores busy. */
const BATCHES_AT_ONCE = 2

/** Of a call that has been deleted since it was found. */
const NO_LINE = Buffer.alloc(0)

/** For fewer calls, naming their ids takes less time than finding out whether they can be read in ranges. */
const RANGED_CALLS_MIN = 500

/**
 * In a list that is read in ranges, all calls within its range of ids may have at most this multiple of the list's own
 * bytes.
 */
const DENSE_BYTES_MAX = 1.5

/** Reads calls that an id scan has found as JSON lines, in the order of their list. */
export interface BatchReader {
  /** Any number of calls, in batches. */
  lines(list: List, found: Iterable<FoundCall>): AsyncGenerator<Uint8Array>
  /** Few calls. */
  linesOfIds(list: List, ids: readonly string[]): Promise<Buffer[]>
}

/** Answers calls without the database, exactly as the database would, or not at all. */
export interface KnownCalls {
  /**
   * One call by its id as a JSON line, which is empty where there is no such call; undefined where only the database
   * knows.
   */
  line(list: List, id: string): Buffer | undefined
}

interface Deps {
  traces: TraceDb
  recent: KnownCalls
}

export function createBatchReader({ traces, recent }: Deps): BatchReader {
  /** Some calls as pieces of lines. */
  async function* read(list: List, calls: queries.CallSet, count: number): AsyncGenerator<Buffer> {
    if (rendererOf(count) === 'server')
      return yield* 'ids' in calls ? fromDatabase(list, calls) : fromMemory(list, calls)
    const query = queries.selectLines(list.selection, calls, shownCalls(list))
    for await (const lines of wholeLines(traces, query, list.context.signal)) yield finishLines(lines)
  }

  async function* fromDatabase(list: List, calls: queries.CallSet): AsyncGenerator<Buffer> {
    const shown = shownCalls(list)
    for await (const piece of rowsOfCalls(list, calls)) yield renderRows(piece, shown).lines
  }

  function rowsOfCalls(list: List, calls: queries.CallSet): AsyncGenerator<Uint8Array> {
    const query = queries.selectRows(list.selection, calls, shownCalls(list))
    return wholeRows(traces, query, list.context.signal)
  }

  /** Those that memory does not know come from the database as well. */
  async function* fromMemory(list: List, ids: readonly string[]): AsyncGenerator<Buffer> {
    const known = new Map(ids.map((id) => [id, recent.line(list, id)]))
    const unknown = ids.filter((id) => known.get(id) === undefined)
    if (unknown.length === ids.length) return yield* fromDatabase(list, ids)
    if (unknown.length > 0)
      for await (const piece of rowsOfCalls(list, unknown))
        for (const [id, line] of renderRowsById(piece, shownCalls(list))) known.set(id, line)
    yield Buffer.concat(ids.map((id) => known.get(id) ?? NO_LINE))
  }

  /** Whether a list is to be read in ranges: its calls are neighbours, with few other calls between them. */
  async function isReadInRanges(list: List, found: Iterable<FoundCall>): Promise<boolean> {
    const range = mayReadRanges(list) ? rangeOf(found) : undefined
    if (range === undefined || range.calls < RANGED_CALLS_MIN) return false
    // Later times are no longer exact as numbers.
    if (Math.max(range.first.startedAt, range.last.startedAt) > Number.MAX_SAFE_INTEGER) return false
    const query = queries.countBytes(list.selection.project_id, range.ids)
    const all = await firstOf(traces.query<{ bytes: number }>(query, list.context.signal))
    return (all?.bytes ?? 0) <= range.bytes * DENSE_BYTES_MAX
  }

  /** While one batch is sent, the database reads its rest and the next one. */
  async function* lines(list: List, found: Iterable<FoundCall>): AsyncGenerator<Uint8Array> {
    const inRanges = await isReadInRanges(list, found)
    const batches = inBatches(found, PER_BATCH, ({ bytes }) => ({ bytes, count: 1 }))
    const readNext = (): AsyncGenerator<Buffer> | undefined => {
      const calls = batches.next().value
      if (calls === undefined) return undefined
      const range: CallRange | undefined = inRanges ? rangeOf(calls) : undefined
      return readOn(read(list, range ?? calls.map(({ id }) => id), calls.length))
    }
    const ahead = Array.from({ length: BATCHES_AT_ONCE }, readNext)
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      yield* next
      ahead.push(readNext())
    }
  }

  return { lines, linesOfIds: (list, ids) => rowsOf(read(list, ids, ids.length)) }
}
