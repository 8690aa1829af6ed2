import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import * as queries from './queries.ts'

/**
 * The ids of the selected trials that failed: with an exception of their own, or of the prediction or a scorer below
 * them.
 */
export async function trialErrors(
  traces: TraceDb,
  selection: Selection,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(traces.query<{ trial: string }>(queries.selectErrors(selection), signal))
  return new Set(rows.map(({ trial }) => trial))
}
