import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf } from '../../stores/trace-db/port.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import type { Operand, Query } from '../../trace/query-language/wire.ts'
import type { RowOfTrials } from './sorted-trials.ts'
import { pathInTrial, ROOTS } from './trial-fields.ts'
import type * as wire from './wire.ts'

/** Each is a query of its own. */
const FILTERS_MAX = 20

/** Filters rows by values of their trials; the payloads stay in the database. */
export interface RowFilter {
  /** Rows of which a trial matches any filter, or for each filter one. */
  filtered(
    rows: RowOfTrials[],
    selection: Selection,
    asked: { req: wire.EvalResultsReq; context: CallContext },
  ): Promise<RowOfTrials[]>
}

export function createRowFilter({ calls }: { calls: Calls }): RowFilter {
  async function matching(
    selection: Selection,
    { query, evaluation_call_id }: wire.Filter,
    context: CallContext,
  ): Promise<Set<string>> {
    const filter = evaluation_call_id
      ? { ...selection.filter, parent_ids: [evaluation_call_id] }
      : selection.filter
    const req = { ...selection, filter, query: inTrials(query), expand_columns: [ROOTS.inputs] }
    return new Set(await rowsOf(await calls.ids(req, context)))
  }

  async function filtered(
    rows: RowOfTrials[],
    selection: Selection,
    { req, context }: { req: wire.EvalResultsReq; context: CallContext },
  ): Promise<RowOfTrials[]> {
    const filters = req.filters ?? []
    if (filters.length === 0) return rows
    if (filters.length > FILTERS_MAX) throw invalidRequest(`At most ${FILTERS_MAX} filters`)
    const sets: Set<string>[] = []
    for (const filter of filters) sets.push(await matching(selection, filter, context))
    const has = (row: RowOfTrials, ids: Set<string>): boolean => row.trials.some(({ id }) => ids.has(id))
    return req.filter_logic_operator === 'and'
      ? rows.filter((row) => sets.every((ids) => has(row, ids)))
      : rows.filter((row) => sets.some((ids) => has(row, ids)))
  }

  return { filtered }
}

/** A query about fields of trials as one about fields of calls. */
function inTrials({ $expr }: Query): Query {
  // Only names of fields change, so that the expression stays one.
  return { $expr: renamed($expr) as Query['$expr'] }
}

function renamed(operand: Operand): unknown {
  return JSON.parse(JSON.stringify(operand), (key, value: unknown) =>
    key === '$getField' && typeof value === 'string' ? pathInTrial(value) : value,
  )
}
