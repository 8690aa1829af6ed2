import { firstOf, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { wholeRows } from '../../../stores/trace-db/row-binary.ts'
import { wholeLines } from '../../../stores/trace-db/whole-lines.ts'
import { inBatches } from '../../batches.ts'
import { finishLines } from '../render/by-database.ts'
import { renderRows } from '../render/by-server.ts'
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

export function createBatchReader({ traces }: { traces: TraceDb }): BatchReader {
  /** Some calls as pieces of lines. */
  async function* read(list: List, calls: queries.CallSet, count: number): AsyncGenerator<Buffer> {
    const { selection, context } = list
    const shown = shownCalls(list)
    if (rendererOf(count) === 'server') {
      const query = queries.selectRows(selection, calls, shown)
      for await (const rows of wholeRows(traces, query, context.signal)) yield renderRows(rows, shown).lines
      return
    }
    const query = queries.selectLines(selection, calls, shown)
    for await (const lines of wholeLines(traces, query, context.signal)) yield finishLines(lines)
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
