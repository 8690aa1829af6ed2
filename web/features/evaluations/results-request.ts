import type { ResultsRequest } from '../../api/evaluations.ts'
import type { CompareSearch } from './search.ts'

/** What is asked for the rows of a comparison, in their order; parts of them by `limit` and `offset`. */
export function resultsRequest(runs: readonly string[], { shared, sort }: CompareSearch): ResultsRequest {
  return { evaluation_call_ids: runs, require_intersection: shared, sort_by: sortOf(sort, runs) }
}

/** Rows whole enough to be shown: with their inputs, wherever those are kept. */
export const WITH_INPUTS = { include_raw_data_rows: true, resolve_row_refs: true }

/** `~` puts the rows first on which the runs differ most. */
function sortOf(sort: string, runs: readonly string[]) {
  const metric = sort.replace(/^[-~]/, '')
  if (metric === '') return []
  const field = `scores.${metric}`
  if (sort.startsWith('~')) return [{ field, direction: 'desc' as const, mode: 'difference' as const }]
  const direction = sort.startsWith('-') ? ('desc' as const) : ('asc' as const)
  return [{ field, direction, ...(runs[0] !== undefined && { evaluation_call_id: runs[0] }) }]
}
