import { invalidRequest, notAllowed } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Costs } from '../costs/service.ts'
import type { Feedback } from '../feedback/service.ts'
import type { Refs } from '../refs/service.ts'
import { callTexts } from './call-text.ts'
import { callsIn } from './calls-in.ts'
import { createExpanding } from './expanding.ts'
import { createExtras } from './extras.ts'
import { PAYLOADS, type PayloadColumn } from './fields.ts'
import * as queries from './queries.ts'
import type { Selection } from './selection.ts'
import { createTableSize } from './table-size.ts'
import { timeWindows } from './time-window.ts'
import * as wire from './wire.ts'

/** Wire: a list in a filter is limited to this. */
const FILTER_LIST_MAX = 1000

/** Ids of a list that are in memory at once; a longer list is looked for again from where these end. */
const IDS_PER_QUERY = 200_000

/** Payloads of a list that are in memory at once, but for a single larger call. */
const BYTES_PER_FETCH = 8 * 1024 * 1024

/** Calls fetched at once: their ids travel to the database with the query. */
const CALLS_PER_FETCH = 5000

const OLDEST_FIRST = [
  { field: 'started_at', direction: 'asc' as const },
  { field: 'id', direction: 'asc' as const },
]

export interface ReadingDeps {
  traces: TraceDb
  feedback: Feedback
  costs: Pick<Costs, 'priceLists'>
  refs: Pick<Refs, 'resolve'>
}

/** A list of calls that has been checked. */
export interface List {
  req: wire.CallsStreamQueryReq
  selection: Selection
  page: queries.Page
  context: CallContext
}

/** Lists of calls, as text or as objects. */
export function createCallLists(deps: ReadingDeps) {
  const { traces } = deps
  const tableSize = createTableSize(deps)
  const expanding = createExpanding(deps)
  const extras = createExtras({ ...deps, expanding })

  async function checked(req: wire.CallsStreamQueryReq, context: CallContext): Promise<List> {
    checkSelection(req)
    if (req.limit != null && req.limit < 0) throw invalidRequest('limit must not be negative')
    checkColumns(req.columns ?? [])
    if (req.offset != null && req.offset < 0) throw invalidRequest('offset must not be negative')
    const page = { sort_by: sortOf(req), limit: req.limit ?? undefined, offset: req.offset ?? 0 }
    const sortFields = page.sort_by.map(({ field }) => field)
    const expanded = await expanding.expandedFields(req, sortFields, req.expand_columns ?? [])
    return { req, selection: { ...req, expanded }, page, context }
  }

  /** The rows of some calls, in the order of their list. */
  async function rowsOfCalls(
    { req, selection, page, context }: List,
    ids: readonly string[],
  ): Promise<Uint8Array[]> {
    const query = queries.selectRows(selection, ids, shownCalls(req, page))
    return rowsOf(traces.rowBinary(query, context.signal))
  }

  async function find({ selection, page, context }: List): Promise<queries.FoundCall[]> {
    const needed = page.limit ?? Number.POSITIVE_INFINITY
    let found: queries.FoundCall[] = []
    for (const window of (await tableSize.isLarge()) ? timeWindows(selection, page) : [undefined]) {
      const query = queries.selectIds(selection, page, window)
      found = await rowsOf(traces.query<queries.FoundCall>(query, context.signal))
      if (found.length === needed || found[0]?.of_all) break
    }
    return found
  }

  /** While one portion is written and sent, the database reads the next. */
  async function* textsOfCalls(list: List, found: readonly queries.FoundCall[]): AsyncGenerator<Uint8Array> {
    const shown = shownCalls(list.req, list.page)
    const rest = portions(found)
    const read = (ids: string[] | undefined) => {
      const reading = ids && rowsOfCalls(list, ids)
      // Whoever awaits it hears of it; a client that goes away meanwhile never will.
      reading?.catch(() => {})
      return reading
    }
    for (let next = read(rest.next().value); next !== undefined; ) {
      const pieces = await next
      next = read(rest.next().value)
      for (const rows of pieces) yield callTexts(rows, shown)
    }
  }

  /**
   * First ids in order, then their rows, some at a time: of a list of any length, only ids and two portions of its payloads
   * are in memory. No query stays open while the client reads: the database answers few at once.
   */
  async function* textsOfList(list: List): AsyncGenerator<Uint8Array> {
    const end = list.page.offset + (list.page.limit ?? Number.POSITIVE_INFINITY)
    for (let offset = list.page.offset; offset < end; offset += IDS_PER_QUERY) {
      const page = { ...list.page, offset, limit: Math.min(end - offset, IDS_PER_QUERY) }
      const found = await find({ ...list, page })
      yield* textsOfCalls(list, found)
      if (found.length < page.limit) return
    }
  }

  async function callsById(list: List, ids: readonly string[]): Promise<wire.Call[]> {
    const rows = await rowsOfCalls(list, ids)
    const calls = rows.flatMap((piece) => callsIn(callTexts(piece, shownCalls(list.req, list.page))))
    await extras.add(calls, list)
    return calls
  }

  async function* callsOfList(list: List): AsyncGenerator<wire.Call> {
    for await (const texts of textsOfList(list)) {
      const calls = callsIn(texts)
      await extras.add(calls, list)
      yield* calls
    }
  }

  return {
    checked,
    asText: textsOfList,
    asCalls: callsOfList,
    callsById,
    expandedFields: expanding.expandedFields,
  }
}

/** The ids of calls whose payloads may be in memory together. */
function* portions(found: readonly queries.FoundCall[]): Generator<string[], undefined> {
  let ids: string[] = []
  let bytes = 0
  for (const call of found) {
    if (ids.length > 0 && (bytes + call.bytes > BYTES_PER_FETCH || ids.length === CALLS_PER_FETCH)) {
      yield ids
      ids = []
      bytes = 0
    }
    ids.push(call.id)
    bytes += call.bytes
  }
  if (ids.length > 0) yield ids
  return undefined
}

function shownCalls(req: wire.CallsStreamQueryReq, page: queries.Page): queries.ShownCalls {
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

/** Wire: what is asked for must be a member of a call; everything but payloads is shown in any case. @throws 403 otherwise. */
function checkColumns(columns: readonly string[]): void {
  for (const column of columns) {
    const root = column.split('.')[0] ?? ''
    if (!Object.hasOwn(wire.Call.shape, root))
      throw notAllowed(`Field ${column.slice(0, 200)} is not allowed`)
  }
}

/** Wire: sizes give no order; an order without `id` gets it appended, ascending only after an ascending start time. */
function sortOf(req: wire.CallsStreamQueryReq): readonly { field: string; direction: 'asc' | 'desc' }[] {
  const last = req.sort_by?.at(-1)
  if (req.sort_by?.some(({ field }) => /^(total_)?storage_size_bytes$/.test(field)))
    throw invalidRequest('Calls cannot be sorted by their storage size')
  if (req.sort_by == null || last === undefined) return OLDEST_FIRST
  if (req.sort_by.some((key) => key.field === 'id')) return req.sort_by
  return [...req.sort_by, { field: 'id', direction: last.field === 'started_at' ? last.direction : 'desc' }]
}

/** @throws 400 for lists that are too long. */
export function checkSelection(req: Pick<wire.CallsStreamQueryReq, 'filter'>): void {
  for (const [name, values] of Object.entries(req.filter ?? {})) {
    if (Array.isArray(values) && values.length > FILTER_LIST_MAX) {
      throw invalidRequest(`filter.${name} has more than ${FILTER_LIST_MAX} entries`)
    }
  }
}
