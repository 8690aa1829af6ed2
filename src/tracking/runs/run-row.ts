import type { RunKey } from '../metrics/service.ts'
import type { RunRow } from './queries.ts'

/** A run that sends nothing for this long has crashed. Wire: clients send something every 30 s. */
const SILENT_MS_MAX = 5 * 60_000

/** A running run must have sent something after this time. */
export function silentSince(): string {
  return new Date(Date.now() - SILENT_MS_MAX).toISOString()
}

/** A run's state as clients know it. */
export function stateOf(run: Pick<RunRow, 'state' | 'heartbeat_at'>): string {
  return run.state === 'running' && run.heartbeat_at < silentSince() ? 'crashed' : run.state
}

/** Whether a run has neither ended nor been silent for too long. */
export function isInProgress(run: Pick<RunRow, 'state' | 'heartbeat_at'>): boolean {
  return ['pending', 'running', 'preempting'].includes(run.state) && run.heartbeat_at >= silentSince()
}

/** A run that starts again has neither ended nor been asked to. */
export const STARTED_AGAIN = { exit_code: null, ended_at: null, stop_requested_at: null }

/** The key of a run's metrics in the trace database. */
export function metricsKeyOf(run: Pick<RunRow, 'id' | 'entity' | 'project'>): RunKey {
  return { project_id: `${run.entity}/${run.project}`, run_id: run.id }
}

export function tagsOf(row: Pick<RunRow, 'tags'>): string[] {
  const tags: unknown = JSON.parse(row.tags)
  return Array.isArray(tags) ? tags.map(String) : []
}
