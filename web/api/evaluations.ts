import type { EvalResultsRes, Row, ScorerStats, Summary } from '../../src/trace/eval-results/wire.ts'
import { type Call, streamCalls } from './calls.ts'
import { askJson } from './client.ts'
import type { OnWire } from './wire.ts'

export type ResultsRow = OnWire<Row>
export type ResultsSummary = OnWire<Summary>
export type { ScorerStats }

/** Evaluations of one list; the newest are shown. */
const RUNS_MAX = 1000

/** The calls that evaluations are, newest first: their summary is the output. */
export async function listEvaluations(project: string, signal: AbortSignal): Promise<Call[]> {
  const request = {
    filter: { op_names: [`weave:///${project}/op/Evaluation.evaluate:*`, 'Evaluation.evaluate'] },
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    limit: RUNS_MAX,
    columns: ['inputs', 'output', 'summary', 'display_name', 'ended_at', 'exception'],
  }
  const calls: Call[] = []
  for await (const call of streamCalls(project, request, { signal })) calls.push(call)
  return calls
}

/** Whether any of these evaluations has not ended, so that its results may still change. */
export async function isAnyRunning(
  project: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const request = { filter: { call_ids: [...ids] }, columns: ['ended_at'] }
  for await (const call of streamCalls(project, request, { signal })) if (call.ended_at === null) return true
  return false
}

interface Sort {
  field: string
  direction: 'asc' | 'desc'
  evaluation_call_id?: string
  mode?: 'value' | 'difference'
}

/** Rows of evaluations side by side, or what all of them come to. */
export interface ResultsRequest {
  evaluation_call_ids: readonly string[]
  require_intersection?: boolean
  include_rows?: boolean
  include_summary?: boolean
  include_raw_data_rows?: boolean
  resolve_row_refs?: boolean
  sort_by?: readonly Sort[]
  filters?: readonly { query: unknown; evaluation_call_id?: string }[]
  filter_logic_operator?: 'and' | 'or'
  limit?: number
  offset?: number
}

/** @throws ApiError as every request */
export function askResults(
  project: string,
  request: ResultsRequest,
  signal: AbortSignal,
): Promise<OnWire<EvalResultsRes>> {
  return askJson(`/v2/${project}/eval_results/query`, { body: request, signal })
}

/** How far an evaluation that runs is. */
export async function readProgress(
  project_id: string,
  call_id: string,
  signal: AbortSignal,
): Promise<{ completed: number; total: number } | undefined> {
  interface Reply {
    status: { code: string; completed_rows?: number; total_rows?: number }
  }
  const { status } = await askJson<Reply>('/evaluations/status', { body: { project_id, call_id }, signal })
  if (status.code !== 'running') return undefined
  return { completed: status.completed_rows ?? 0, total: status.total_rows ?? 0 }
}

/** Ends an evaluation that the server runs. */
export async function cancelEvaluation(project_id: string, call_id: string): Promise<void> {
  await askJson('/evaluations/cancel', { body: { project_id, call_id } })
}
