import type { CallContext } from '../../http/caller.ts'
import type { SortedPage } from '../query-language/page.ts'
import { PAYLOADS, type PayloadColumn, payloadNamed } from './fields.ts'
import type { ShownCalls } from './queries.ts'
import type { Selection } from './selection.ts'
import type * as wire from './wire.ts'

/** A list of calls that has been checked. */
export interface List {
  req: wire.CallsStreamQueryReq
  selection: Selection
  page: SortedPage
  context: CallContext
}

/** How a list shows its calls. */
export function shownCalls({ req, page }: Pick<List, 'req' | 'page'>): ShownCalls {
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
  const roots = new Set(req.columns.map((column) => payloadNamed(column.split('.')[0] ?? '')))
  if (req.include_costs) roots.add('summary')
  return PAYLOADS.filter((payload) => roots.has(payload))
}
