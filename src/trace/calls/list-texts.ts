import { tooLarge, unavailable } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf, isOutOfMemory, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary } from '../../stores/trace-db/row-binary.ts'
import { portions } from '../portions.ts'
import type { SortedPage } from '../query-language/page.ts'
import { callTexts } from './call-text.ts'
import { PAYLOADS, type PayloadColumn } from './fields.ts'
import * as queries from './queries.ts'
import { isOfFamily, type Selection } from './selection.ts'
import { createTableSize } from './table-size.ts'
import { type TimeBound, timeWindows } from './time-window.ts'
import type * as wire from './wire.ts'

/** The ids of a list are in memory until its end, some 46 bytes each: more than five million calls. */
const IDS_BYTES_MAX = 256 * 1024 * 1024

const PER_FETCH = {
  /** Payloads of a list that are in memory at once, but for a single larger call. */
  bytes: 16 * 1024 * 1024,
  /** Calls fetched at once: their ids travel to the database with the query. */
  count: 10_000,
}

/** A list this short is read by one query, unless its calls take more memory than a query for a page should. */
const PAGE_CALLS = 100
const PAGE_BYTES_MAX = 256 * 1024 * 1024

/** Long lists that are read at once: each holds some portions of its payloads while its client reads slowly. */
const LONG_LISTS_MAX = 32

/** A list of calls that has been checked. */
export interface List {
  req: wire.CallsStreamQueryReq
  selection: Selection
  page: SortedPage
  context: CallContext
}

/** Reads lists of calls as the JSON texts of the wire. */
export function createListTexts({ traces }: { traces: TraceDb }) {
  const tableSize = createTableSize({ traces })
  let longLists = 0

  /** The rows of some calls, in the order of their list. */
  async function rowsOfCalls(
    { req, selection, page, context }: List,
    ids: readonly string[],
  ): Promise<Uint8Array[]> {
    const query = queries.selectRows(selection, ids, shownCalls(req, page))
    return rowsOf(traces.rowBinary(query, context.signal))
  }

  /** The bounds within which a list looks, one after another until it is full; at last it looks everywhere. */
  async function* boundsOf({ selection, page, context }: List): AsyncGenerator<TimeBound | undefined> {
    for (const window of (await tableSize.isLarge()) ? timeWindows(selection, page) : []) {
      const query = queries.selectBound(selection, window)
      const bound = await firstOf(traces.query<{ started_at: string }>(query, context.signal))
      if (bound === undefined) break
      yield { direction: window.direction, edge: bound.started_at }
    }
    yield undefined
  }

  /** A short list read by one query, as long as that looks at few calls; undefined where it does not do. */
  async function pageAtOnce(list: List): Promise<Buffer[] | undefined> {
    const { selection, page, req, context } = list
    if (page.limit === undefined || page.limit > PAGE_CALLS) return undefined
    const shown = shownCalls(req, page)
    try {
      for await (const bound of boundsOf(list)) {
        if (bound === undefined && (await tableSize.isLarge()) && !isOfFamily(selection)) return undefined
        const query = queries.selectPage(selection, page, shown, { bound, bytesMax: PAGE_BYTES_MAX })
        const pieces = await rowsOf(traces.rowBinary(query, context.signal))
        const read = pieces.map((rows) => callTexts(rows, shown))
        const calls = read.reduce((sum, piece) => sum + piece.calls, 0)
        if (bound === undefined || calls === page.limit) return read.map(({ texts }) => texts)
      }
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
    }
    return undefined
  }

  /** The calls of a list, in order. @throws 413 for more than may be in memory. */
  async function find({ selection, page, context }: List): Promise<FoundCalls> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for await (const piece of traces.rowBinary(
      queries.selectIds(selection, page, undefined),
      context.signal,
    )) {
      bytes += piece.byteLength
      if (bytes > IDS_BYTES_MAX)
        throw tooLarge('The list has too many calls: read it in parts, with limit and filter')
      pieces.push(piece)
    }
    return foundCalls(pieces)
  }

  /** The ids of a list alone, as the database finds them. */
  async function* idsOf({ selection, page, context }: List): AsyncGenerator<string> {
    const query = queries.selectIds(selection, page, undefined)
    for await (const piece of traces.rowBinary(query, context.signal))
      for (const { id } of foundCalls([piece])) yield id
  }

  /** While one portion is written and sent, the database reads the next. */
  async function* textsOfCalls(list: List, found: FoundCalls): AsyncGenerator<Uint8Array> {
    const shown = shownCalls(list.req, list.page)
    const rest = portions(found, PER_FETCH, ({ bytes }) => ({ bytes, count: 1 }))
    const read = ({ value: calls }: IteratorResult<FoundCall[], void>) => {
      const ids = calls?.map(({ id }) => id)
      const reading = ids && rowsOfCalls(list, ids)
      // Whoever awaits it hears of it; a client that goes away meanwhile never will.
      reading?.catch(() => {})
      return reading
    }
    for (let next = read(rest.next()); next !== undefined; ) {
      const pieces = await next
      next = read(rest.next())
      for (const rows of pieces) yield callTexts(rows, shown).texts
    }
  }

  /**
   * First ids in order, then their rows, some at a time: of a list of any length, only ids and two portions of its payloads
   * are in memory. No query stays open while the client reads: the database answers few at once.
   */
  async function* textsOfList(list: List): AsyncGenerator<Uint8Array> {
    const atOnce = await pageAtOnce(list)
    if (atOnce !== undefined) return yield* atOnce
    if (longLists >= LONG_LISTS_MAX) throw unavailable('Too many long lists are being read', 5)
    longLists++
    try {
      yield* textsOfCalls(list, await find(list))
    } finally {
      longLists--
    }
  }

  return {
    /** The calls of a list, in pieces of whole lines, one a call. */
    ofList: textsOfList,
    idsOf,
    /** Calls by their ids. */
    async ofIds(list: List, ids: readonly string[]): Promise<Buffer[]> {
      const shown = shownCalls(list.req, list.page)
      return (await rowsOfCalls(list, ids)).map((rows) => callTexts(rows, shown).texts)
    },
  }
}

/** Calls by id and bytes of payloads, kept as the rows they came in, which take a third of the memory of objects. */
type FoundCalls = Iterable<FoundCall>

interface FoundCall {
  id: string
  bytes: number
}

function* foundCalls(pieces: readonly Uint8Array[]): Generator<FoundCall> {
  for (const piece of pieces)
    for (const row = readRowBinary(piece); !row.done(); ) yield { id: row.text(), bytes: row.count() }
}

function shownCalls(req: wire.CallsStreamQueryReq, page: SortedPage): queries.ShownCalls {
  return {
    order: page.sort_by,
    payloads: payloadsOf(req),
    storageSize: req.include_storage_size ? 'with' : 'without',
    totalStorageSize: req.include_total_storage_size ? 'with' : 'without',
    usernames: req.include_usernames ? 'with' : 'without',
  }
}

/** Wire: `inputs.a` asks for all of `inputs`, and costs for the summary. */
function payloadsOf(req: wire.CallsStreamQueryReq): readonly PayloadColumn[] {
  if (req.columns == null || req.columns.length === 0) return PAYLOADS
  const roots = new Set(req.columns.map((column) => column.split('.')[0]))
  if (req.include_costs) roots.add('summary')
  return PAYLOADS.filter((payload) => roots.has(payload))
}
