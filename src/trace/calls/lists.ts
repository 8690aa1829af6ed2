import { invalidRequest, notAllowed } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import type { Costs } from '../costs/service.ts'
import type { Feedback } from '../feedback/service.ts'
import type { Refs } from '../refs/service.ts'
import { callsIn } from './calls-in.ts'
import { createExpanding } from './expanding.ts'
import { createExtras } from './extras.ts'
import { payloadNamed } from './fields.ts'
import type { LineCache } from './line-cache.ts'
import type { List } from './list.ts'
import { createListTexts } from './list-texts.ts'
import * as wire from './wire.ts'

/** Wire: a list in a filter is limited to this. */
const FILTER_LIST_MAX = 1000

const OLDEST_FIRST = [
  { field: 'started_at', direction: 'asc' as const },
  { field: 'id', direction: 'asc' as const },
]

export interface ReadingDeps {
  traces: TraceDb
  lines: LineCache
  feedback: Feedback
  costs: Pick<Costs, 'priceLists'>
  refs: Pick<Refs, 'resolve'>
}

/** Lists of calls, as text or as objects. */
export function createCallLists(deps: ReadingDeps) {
  const texts = createListTexts(deps)
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

  async function callsById(list: List, ids: readonly string[]): Promise<wire.Call[]> {
    const calls = (await texts.ofIds(list, ids)).flatMap(callsIn)
    await extras.add(calls, list)
    return calls
  }

  async function* callsOfList(list: List): AsyncGenerator<wire.Call> {
    for await (const piece of texts.ofList(list)) {
      const calls = callsIn(piece)
      await extras.add(calls, list)
      yield* calls
    }
  }

  return {
    checked,
    asText: texts.ofList,
    asCalls: callsOfList,
    asIds: texts.idsOf,
    callsById,
    expandedFields: expanding.expandedFields,
  }
}

/** Wire: what is asked for must be a member of a call; everything but payloads is shown in any case. @throws 403 otherwise. */
function checkColumns(columns: readonly string[]): void {
  for (const column of columns) {
    const root = column.split('.')[0] ?? ''
    if (!Object.hasOwn(wire.Call.shape, root) && payloadNamed(root) === undefined)
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
