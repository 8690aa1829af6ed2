import type { ResultsRequest, ResultsSort } from '../../api/evaluations.ts'
import type { Metric } from './metrics.ts'
import { AS_STORED, type CompareSearch } from './search.ts'

/** Without a chosen metric, the first metrics decide the order: each is one more scan over all trials. */
const METRICS_SORTED_BY = 3

/** The request for the rows of a comparison, in their order; parts of them by `limit` and `offset`. */
export function resultsRequest(
  runs: readonly string[],
  { shared, sort, of }: CompareSearch,
  metrics: readonly Metric[],
): ResultsRequest {
  const sort_by = sortOf({ sort, of }, runs, metrics)
  return { evaluation_call_ids: runs, require_intersection: shared, include_errors: true, sort_by }
}

/** Rows whole enough to be shown: with their inputs, wherever those are kept. */
export const WITH_INPUTS = { include_raw_data_rows: true, resolve_row_refs: true }

/**
 * Of several runs, first the rows on which another fails that the baseline does not, then those that got worse by the
 * first metrics; of one run, the rows that failed, then the worst. `~` does that by one metric, `+` has what got better
 * by it first.
 */
function sortOf(
  { sort, of }: Pick<CompareSearch, 'sort' | 'of'>,
  runs: readonly string[],
  metrics: readonly Metric[],
): ResultsSort[] {
  const [baseline] = runs
  if (sort === AS_STORED || baseline === undefined) return []
  const change = runs.length > 1 ? { mode: 'change' as const, evaluation_call_id: baseline } : {}
  const worstFirst = ({ field, isLessBetter }: Metric): ResultsSort[] =>
    field === undefined ? [] : [{ field, direction: isLessBetter ? 'desc' : 'asc', ...change }]
  const errorsFirst: ResultsSort = { field: 'errors', direction: 'desc', ...change }
  if (sort === '') return [errorsFirst, ...metrics.flatMap(worstFirst).slice(0, METRICS_SORTED_BY)]
  const id = sort.replace(/^[-~+]/, '')
  const chosen = metrics.filter((metric) => metric.id === id)
  if (sort.startsWith('~')) return chosen.flatMap(worstFirst)
  if (sort.startsWith('+'))
    return chosen.flatMap((metric) => worstFirst({ ...metric, isLessBetter: !metric.isLessBetter }))
  const direction = sort.startsWith('-') ? 'desc' : 'asc'
  const evaluation_call_id = runs[of] ?? baseline
  return chosen.flatMap(({ field }) =>
    field === undefined ? [] : [{ field, direction, evaluation_call_id }],
  )
}
