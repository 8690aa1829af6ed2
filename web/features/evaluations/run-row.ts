import type { Call } from '../../api/calls.ts'
import { objectOf } from '../../api/json.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import type { StatusKind } from '../../components/status.tsx'
import { latencyIn, metricsIn } from './metrics.ts'

/** An evaluation as the list shows it. */
export interface RunRow {
  id: string
  name: string
  evaluation: string
  /** A ref, or another name from the client. */
  model: string
  status: StatusKind
  startedAt: string
  latencyMs: number | null
  tokens: number | null
  /** By the client's own summary. */
  metrics: Map<string, number>
}

export function runRow(call: Call): RunRow {
  const inputs = objectOf(call.inputs)
  const evaluation = nameOfRef(inputs['self'] ?? inputs['this'])
  const summary = objectOf(call.summary)
  const usage = Object.values(objectOf(summary['usage'])).map((each) => objectOf(each)['total_tokens'])
  const tokens = usage.filter((count) => typeof count === 'number')
  return {
    id: call.id,
    name: call.display_name ?? evaluation,
    evaluation,
    model: typeof inputs['model'] === 'string' ? inputs['model'] : '',
    status: call.exception ? 'error' : call.ended_at === null ? 'running' : 'ok',
    startedAt: call.started_at,
    latencyMs: latencyIn(call.output),
    tokens: tokens.length === 0 ? null : tokens.reduce((sum, count) => sum + count, 0),
    metrics: metricsIn(call.output),
  }
}
