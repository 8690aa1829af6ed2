import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { portions } from '../portions.ts'
import { mergeSummaries } from './call-lines.ts'
import { type CallRange, type FoundCall, isInRanges, rangeOf } from './call-range.ts'
import { callTexts } from './call-text.ts'
import { type List, shownCalls } from './list.ts'
import * as queries from './queries.ts'

const PER_FETCH = {
  /** Payloads of a list that are in memory at once, but for a single larger call. */
  bytes: 16 * 1024 * 1024,
  /** Calls fetched at once: their ids travel to the database with the query. */
  count: 10_000,
}

/** Portions that are read while one is sent: a query alone does not keep two cores busy. */
const PORTIONS_AHEAD = 2

/** Calls that the database writes as texts: from here on this takes less than it costs to plan. */
const LINES_MIN = 500

/** Of a list that is read in ranges, the calls between those of the list may have this share of its own bytes. */
const DENSE_BYTES_MAX = 1.5

/** Reads calls that have been found as the JSON texts of the wire, in the order of their list. */
export function createPortionTexts({ traces }: { traces: TraceDb }) {
  /** Some calls, in the order of their list. */
  async function textsOf(list: List, calls: queries.CallSet, count: number): Promise<Buffer[]> {
    const { selection, context } = list
    const shown = shownCalls(list)
    if (count < LINES_MIN) {
      const query = queries.selectRows(selection, calls, shown)
      const pieces = await rowsOf(traces.rowBinary(query, context.signal))
      return pieces.map((rows) => callTexts(rows, shown).texts)
    }
    const query = queries.selectLines(selection, calls, shown)
    return (await rowsOf(traces.text(query, context.signal))).map(mergeSummaries)
  }

  /** Whether a list can be read in ranges, which have little else in them. */
  async function isDense(
    { selection, context }: List,
    range: CallRange & { bytes: number },
  ): Promise<boolean> {
    // Later times are no longer exact as numbers.
    if (Math.max(range.first.startedAt, range.last.startedAt) > Number.MAX_SAFE_INTEGER) return false
    const query = queries.countBytes(selection.project_id, range.ids)
    const all = await firstOf(traces.query<{ bytes: number }>(query, context.signal))
    return (all?.bytes ?? 0) <= range.bytes * DENSE_BYTES_MAX
  }

  /** While one portion is sent, the database reads the next ones. */
  async function* textsOfCalls(list: List, found: Iterable<FoundCall>): AsyncGenerator<Uint8Array> {
    const whole = isInRanges(list.selection, list.page) ? rangeOf(found) : undefined
    const inRanges = whole !== undefined && whole.calls >= LINES_MIN && (await isDense(list, whole))
    const rest = portions(found, PER_FETCH, ({ bytes }) => ({ bytes, count: 1 }))
    const read = ({ value: calls }: IteratorResult<FoundCall[], void>) => {
      const range = inRanges ? rangeOf(calls ?? []) : undefined
      const reading = calls && textsOf(list, range ?? calls.map(({ id }) => id), calls.length)
      // Whoever awaits it hears of it; a client that goes away meanwhile never will.
      reading?.catch(() => {})
      return reading
    }
    const ahead = Array.from({ length: PORTIONS_AHEAD }, () => read(rest.next()))
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const texts = await next
      ahead.push(read(rest.next()))
      yield* texts
    }
  }

  return {
    /** Few calls. */
    ofIds: (list: List, ids: readonly string[]) => textsOf(list, ids, ids.length),
    /** Any number of calls, some megabytes at a time. */
    ofCalls: textsOfCalls,
  }
}
