import type { EvalResultsRes, Row, ScorerStats, Summary } from '../../src/evaluation/eval-results/wire.ts'
import { type Call, streamCalls } from './calls.ts'
import { askJson } from './client.ts'
import { projectPath } from './project.ts'
import type { OnWire } from './wire.ts'

export type ResultsRow = OnWire<Row>
export type ResultsSummary = OnWire<Summary>
export type EvaluationResults = ResultsSummary['evaluations'][number]
export type { ScorerStats }

/** Evaluations of one list, the newest. */
export const LISTED_MAX = 1000

/**
 * The calls that evaluations are, newest first: their summary is the output.
 *
 * @param evaluations refs of the wanted ones; all where absent
 */
export async function listEvaluations(
  project: string,
  signal: AbortSignal,
  evaluations?: readonly string[],
): Promise<Call[]> {
  const request = {
    filter: {
      op_names: [`weave:///${project}/op/Evaluation.evaluate:*`, 'Evaluation.evaluate'],
      ...(evaluations !== undefined && { input_refs: [...evaluations] }),
    },
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    limit: LISTED_MAX,
    columns: ['inputs', 'output', 'summary', 'display_name', 'ended_at', 'exception'],
  }
  const calls: Call[] = []
  for await (const call of streamCalls(project, request, { signal })) calls.push(call)
  return calls
}

/** Some evaluations by their ids; one that has not ended may still change. Their output is the client's own summary. */
export async function readEvaluations(
  project: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Call[]> {
  const request = { filter: { call_ids: [...ids] }, columns: ['output', 'ended_at'] }
  const calls: Call[] = []
  for await (const call of streamCalls(project, request, { signal })) calls.push(call)
  return calls
}

/** Results of the trials of evaluations, with errors as failures; no calls below the trials. */
export async function readScores(
  project: string,
  evaluation_call_ids: readonly string[],
  signal: AbortSignal,
): Promise<EvaluationResults[]> {
  const only = { include_rows: false, include_summary: true, include_predict_and_score_children: false }
  const request = { evaluation_call_ids, include_errors: true, ...only }
  return (await askResults(project, request, signal)).summary?.evaluations ?? []
}

export interface ResultsSort {
  field: string
  direction: 'asc' | 'desc'
  evaluation_call_id?: string
  mode?: 'value' | 'difference' | 'change'
}

/** Rows of evaluations side by side, or their summary. */
export interface ResultsRequest {
  evaluation_call_ids: readonly string[]
  require_intersection?: boolean
  include_rows?: boolean
  include_summary?: boolean
  include_raw_data_rows?: boolean
  resolve_row_refs?: boolean
  include_errors?: boolean
  include_paired?: boolean
  include_predict_and_score_children?: boolean
  sort_by?: readonly ResultsSort[]
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
  return askJson(projectPath(project, 'eval_results/query'), { body: request, signal })
}

/** Progress of a running evaluation. */
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
  await askJson('/evaluations/cancel', { body: { project_id, call_id }, isRepeatable: true })
}
