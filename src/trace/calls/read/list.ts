import { invalidRequest, notAllowed } from '../../../errors.ts'
import type { CallContext } from '../../../http/caller.ts'
import type { SortedPage } from '../../query-language/page.ts'
import type { SortBy } from '../../query-language/wire.ts'
import { Call } from '../messages/call-wire.ts'
import type { CallsStreamQueryReq } from '../messages/list-wire.ts'
import type { ShownColumns } from '../render/members.ts'
import type { Selection } from '../sql/selection.ts'
import { PAYLOADS, type PayloadColumn, payloadNamed } from '../sql/table.ts'

/** A list of calls whose request has been checked. */
export interface List {
  req: CallsStreamQueryReq
  selection: Selection
  page: SortedPage
  context: CallContext
}

/** The members and extras that a list shows. */
export interface ShownCalls extends ShownColumns {
  order: readonly SortBy[]
}

/** Wire: a list in a filter is limited to this. */
const FILTER_LIST_MAX = 1000

const OLDEST_FIRST = [
  { field: 'started_at', direction: 'asc' as const },
  { field: 'id', direction: 'asc' as const },
]

/** The list in a request. @throws 400 for invalid fields, 403 for columns that calls do not have */
export function checkedPage(req: CallsStreamQueryReq): SortedPage {
  checkSelection(req)
  if (req.limit != null && req.limit < 0) throw invalidRequest('limit must not be negative')
  checkColumns(req.columns ?? [])
  if (req.offset != null && req.offset < 0) throw invalidRequest('offset must not be negative')
  return { sort_by: sortOf(req), limit: req.limit ?? undefined, offset: req.offset ?? 0 }
}

/** @throws 400 for lists that are too long. */
export function checkSelection(req: Pick<CallsStreamQueryReq, 'filter'>): void {
  for (const [name, values] of Object.entries(req.filter ?? {})) {
    if (Array.isArray(values) && values.length > FILTER_LIST_MAX) {
      throw invalidRequest(`filter.${name} has more than ${FILTER_LIST_MAX} entries`)
    }
  }
}

/**
 * Wire: requested columns must be members of a call; everything but payloads is shown in any case. @throws 403
 * otherwise.
 */
function checkColumns(columns: readonly string[]): void {
  for (const column of columns) {
    const root = column.split('.')[0] ?? ''
    if (!Object.hasOwn(Call.shape, root) && payloadNamed(root) === undefined)
      throw notAllowed(`Field ${column.slice(0, 200)} is not allowed`)
  }
}

/** Wire: sizes give no order; an order without `id` gets it appended, ascending only after an ascending start time. */
function sortOf(req: CallsStreamQueryReq): readonly SortBy[] {
  const last = req.sort_by?.at(-1)
  if (req.sort_by?.some(({ field }) => /^(total_)?storage_size_bytes$/.test(field)))
    throw invalidRequest('Calls cannot be sorted by their storage size')
  if (req.sort_by == null || last === undefined) return OLDEST_FIRST
  if (req.sort_by.some((key) => key.field === 'id')) return req.sort_by
  return [...req.sort_by, { field: 'id', direction: last.field === 'started_at' ? last.direction : 'desc' }]
}

export function shownCalls({ req, page }: Pick<List, 'req' | 'page'>): ShownCalls {
  return {
    order: page.sort_by,
    payloads: payloadsOf(req),
    storageSize: req.include_storage_size ? 'with' : 'without',
    totalStorageSize: req.include_total_storage_size ? 'with' : 'without',
    usernames: req.include_usernames ? 'with' : 'without',
  }
}

/** Wire: `inputs.a` requests all of `inputs`, and costs request the summary. */
function payloadsOf(req: CallsStreamQueryReq): readonly PayloadColumn[] {
  if (req.columns == null || req.columns.length === 0) return PAYLOADS
  const roots = new Set(req.columns.map((column) => payloadNamed(column.split('.')[0] ?? '')))
  if (req.include_costs) roots.add('summary')
  return PAYLOADS.filter((payload) => roots.has(payload))
}
