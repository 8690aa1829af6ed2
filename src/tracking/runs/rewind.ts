import { invalidRequest, notFound } from '../../errors.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Metrics } from '../metrics/service.ts'
import { findRun, type RunName, type RunRow, updateRun } from './queries.ts'
import { metricsKeyOf, STARTED_AGAIN } from './run-row.ts'

/** Runs that go on from one of their steps. */
export interface Rewinding {
  /**
   * Deletes the history after a step, and the output and metrics of the machine, which the client numbers from 0 again;
   * the run starts again. The same again changes nothing. @throws 400 for a step that the run has not reached, 404.
   */
  rewind(name: RunName, step: number): Promise<RunRow>
}

export function createRewinding({ control, metrics }: { control: ControlDb; metrics: Metrics }): Rewinding {
  async function rewind(name: RunName, step: number): Promise<RunRow> {
    const row = await findRun(control, name)
    if (row === undefined) throw notFound('run', `${name.entity}/${name.project}/${name.run}`)
    if (!Number.isSafeInteger(step) || step < 0 || step > row.last_step)
      throw invalidRequest(
        `A run is rewound to one of its steps: ${name.run} has 0 to ${row.last_step}, not ${step}`,
      )
    const key = metricsKeyOf(row)
    // What the row counts goes first: where this fails, the client tries again.
    await metrics.rewind(key, step)
    const kept = {
      history_lines: await metrics.countSteps(key),
      system_lines: 0,
      log_lines: 0,
      last_step: step,
      summary: (await metrics.lastLine(key, 'history')) ?? '{}',
      state: 'running' as const,
      heartbeat_at: nowIso(),
      ...STARTED_AGAIN,
    }
    await updateRun(control, row.id, kept)
    return { ...row, ...kept }
  }

  return { rewind }
}
