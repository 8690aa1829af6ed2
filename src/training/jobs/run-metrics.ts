import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Runs } from '../../tracking/runs/service.ts'
import type { ModelOfCheckpoints } from '../checkpoints/rows.ts'
import { storedSftConfig } from './job-config.ts'
import { type JobRow, listEvents } from './queries.ts'

/** Gradient steps of one job that are logged to its run; a longer chart shows no more. */
const STEPS_MAX = 100_000

export interface RunMetricsDeps {
  control: ControlDb
  runs: Pick<Runs, 'append'>
  log: Log
}

/**
 * Writes the metrics of an SFT job to the run of its model, where the job asks for that. Wire: newer clients leave it
 * to the server; each gradient step is a row below `sft/`, and their means are one at the checkpoint's step. A run that
 * cannot be written to does not fail the job.
 */
export async function logToRun(
  { control, runs, log }: RunMetricsDeps,
  job: JobRow,
  model: Pick<ModelOfCheckpoints, 'entity' | 'project' | 'name'>,
  step: number,
): Promise<void> {
  const wanted = job.kind === 'sft' ? storedSftConfig(job.config).metric_logging : null
  if (wanted === null) return
  try {
    const events = await listEvents(control, { job_id: job.id, afterPosition: 0, limit: STEPS_MAX })
    const steps = events
      .filter(({ type }) => type === 'gradient_step')
      .map(({ data }) => JSON.parse(data) as Record<string, number>)
    const training_step = wanted.target_training_step ?? step
    const rows = steps.map((metrics, index) => ({
      ...named('sft/', metrics),
      'sft/gradient_step': index + 1,
      training_step,
    }))
    const run = { entity: model.entity, project: model.project, run: model.name }
    await runs.append(run, [...rows, { ...named('', means(steps)), training_step }])
  } catch (error) {
    log.warn({ job: job.id, reason: messageOf(error) }, 'the metrics of a job were not written to its run')
  }
}

/** The names that clients chart for the trainer's metrics. */
const CHARTED: Record<string, string> = {
  loss: 'loss/train',
  grad_norm: 'loss/grad_norm',
  learning_rate: 'loss/learning_rate',
  num_trajectories: 'data/step_num_trajectories',
  num_trainable_tokens: 'data/step_trainable_assistant_tokens',
}

function named(prefix: string, metrics: Record<string, number>): Record<string, number> {
  const entries = Object.entries(metrics).filter(([name]) => name !== 'tokens_per_second')
  return Object.fromEntries(entries.map(([name, value]) => [prefix + (CHARTED[name] ?? name), value]))
}

function means(steps: readonly Record<string, number>[]): Record<string, number> {
  const names = new Set(steps.flatMap((metrics) => Object.keys(metrics)))
  return Object.fromEntries(
    [...names].map((name) => {
      const values = steps.flatMap((metrics) => metrics[name] ?? [])
      return [name, values.reduce((sum, value) => sum + value, 0) / values.length]
    }),
  )
}
