import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { portions } from '../portions.ts'
import { mergeSummaries } from './call-lines.ts'
import { type CallRange, type FoundCall, isInRanges, rangeOf } from './call-range.ts'
import { callTexts } from './call-text.ts'
import { LIST_BYTES_MAX, type Line, type LineCache, linesIn, type View, viewOf } from './line-cache.ts'
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

/** Lines that lie apart are copied together from here on: a piece costs more to send than some lines to copy. */
const APART_MAX = 16

/** Reads calls that have been found as the JSON texts of the wire, in the order of their list. */
export function createPortionTexts({ traces, lines }: { traces: TraceDb; lines: LineCache }) {
  /** Some calls as the database has them, in the order of their list. */
  async function read(list: List, calls: queries.CallSet, count: number): Promise<Buffer[]> {
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

  /** Some calls, in the order of their list; `asRange` where they are neighbours in it, if that can be told. */
  async function textsOf(
    list: List,
    ids: readonly string[],
    { view, asRange }: { view: View | undefined; asRange?: () => Promise<CallRange | undefined> },
  ): Promise<Buffer[]> {
    const kept = lines.of(view, ids)
    const missing = ids.filter((_, index) => kept[index] === undefined)
    if (missing.length === 0) return joined(kept)
    const isAll = missing.length === ids.length
    const range = isAll ? await asRange?.() : undefined
    const texts = await lines.keeping(view, () => read(list, range ?? missing, missing.length))
    if (isAll) return texts
    const others = new Map(texts.flatMap(linesIn))
    return joined(ids.map((id, index) => kept[index] ?? others.get(id)))
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
  async function* textsOfCalls(
    list: List,
    found: Iterable<FoundCall>,
    { isAgain }: { isAgain: boolean },
  ): AsyncGenerator<Uint8Array> {
    const inRanges = once(async () => {
      const range = isInRanges(list.selection, list.page) ? rangeOf(found) : undefined
      return range !== undefined && range.calls >= LINES_MIN && (await isDense(list, range))
    })
    const view = viewFor(list, isAgain)
    const rest = portions(found, PER_FETCH, ({ bytes }) => ({ bytes, count: 1 }))
    let bytes = 0
    const readNext = ({ value: calls }: IteratorResult<FoundCall[], void>) => {
      if (calls === undefined) return undefined
      bytes += calls.reduce((sum, call) => sum + call.bytes, 0)
      const reading = textsOf(
        list,
        calls.map(({ id }) => id),
        {
          view: bytes <= LIST_BYTES_MAX ? view : undefined,
          asRange: async () => ((await inRanges()) ? rangeOf(calls) : undefined),
        },
      )
      // Whoever awaits it hears of it; a client that goes away meanwhile never will.
      reading.catch(() => {})
      return reading
    }
    const ahead = Array.from({ length: PORTIONS_AHEAD }, () => readNext(rest.next()))
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const texts = await next
      ahead.push(readNext(rest.next()))
      yield* texts
    }
  }

  return {
    /** Few calls. */
    ofIds: (list: List, ids: readonly string[], { isAgain }: { isAgain: boolean }) =>
      textsOf(list, ids, { view: viewFor(list, isAgain) }),
    /** Any number of calls, some megabytes at a time. */
    ofCalls: textsOfCalls,
  }
}

/** Lines are kept of lists that are asked for again: of others that would take a fifth longer, for nothing. */
function viewFor(list: List, isAgain: boolean): View | undefined {
  return isAgain ? viewOf(list.selection.project_id, shownCalls(list)) : undefined
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined
  return () => (done ??= work())
}

/** Lines after one another; a call that is gone has none. */
function joined(lines: readonly (Line | undefined)[]): Buffer[] {
  const runs: Line[] = []
  let last: Line | undefined
  for (const line of lines) {
    if (line === undefined) continue
    if (last?.block === line.block && last.end === line.start) last.end = line.end
    else {
      last = { ...line }
      runs.push(last)
    }
  }
  const pieces = runs.map(({ block, start, end }) => block.texts.subarray(start, end))
  return pieces.length > APART_MAX ? [Buffer.concat(pieces)] : pieces
}
