import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { CheckpointFiles } from '../checkpoints/files.ts'
import type { Checkpoints, StoredCheckpoint } from '../checkpoints/service.ts'
import { RlConfig, WorkerMessage, type WorkerRequest } from './contract-wire.ts'
import { createJobEvents, type JobEvents } from './job-events.ts'
import { endJob, type JobRow, setSource } from './queries.ts'

/** Where a running job is. */
export interface Progress {
  phase: string
  done: number
  total: number
}

export interface RunJobDeps {
  control: ControlDb
  blobs: Blobs
  baseModels: BaseModels
  checkpoints: Checkpoints
  files: CheckpointFiles
}

/**
 * Has the worker run one job; resolves with the new step, which is committed together with the job's end.
 * @throws Error with the reason when the job fails; the signal's reason when it is aborted.
 */
export async function runJob(
  deps: RunJobDeps,
  job: JobRow,
  options: { signal: AbortSignal; onProgress: (progress: Progress) => void },
): Promise<number> {
  const directory = await deps.files.outputFolder()
  try {
    const request = await requestOf(deps, job, directory)
    const events = await createJobEvents(deps.control, job.id)
    for await (const raw of deps.baseModels.trainer(job.base_model).run(request, options.signal)) {
      const message = WorkerMessage.parse(raw)
      // A worker may still be finishing a job that was cancelled.
      if (!('job_id' in message) || message.job_id !== job.id) continue
      if (message.kind === 'job_progress') {
        const { phase, done, total } = message
        options.onProgress({ phase, done, total })
      } else if (message.kind === 'checkpoint_saved') return await succeed(deps, job, message)
      else await recordEvent(events, message)
    }
    throw new Error('The worker ended the job without a result')
  } finally {
    await deps.files.removeOutput(directory)
  }
}

async function requestOf(deps: RunJobDeps, job: JobRow, directory: string): Promise<WorkerRequest> {
  const source = await sourceOf(deps, job)
  const data = await deps.blobs.localPath(job.data_key)
  if (data === undefined) throw new Error('The trajectories of this job are missing')
  return {
    kind: 'rl_job',
    job_id: job.id,
    checkpoint_dir: await deps.files.checkpointFolder(source.manifest),
    output_dir: directory,
    trajectory_groups_path: data,
    config: RlConfig.parse(JSON.parse(job.config)),
  }
}

/** The model's newest checkpoint when the job first starts; the same one if it has to start again. */
async function sourceOf(deps: RunJobDeps, job: JobRow): Promise<StoredCheckpoint> {
  if (job.source_checkpoint_id !== null) {
    const known = await deps.checkpoints.byId(job.source_checkpoint_id)
    if (known !== undefined) return known
  }
  const newest = await deps.checkpoints.newest(job.model_id)
  if (newest === undefined) throw new Error('The model has no checkpoint to train from: all were deleted')
  await setSource(deps.control, job.id, newest.id)
  return newest
}

type JobMessage = Extract<WorkerMessage, { job_id: string }>

async function recordEvent(
  events: JobEvents,
  message: Exclude<JobMessage, { kind: 'job_progress' | 'checkpoint_saved' }>,
): Promise<void> {
  switch (message.kind) {
    case 'training_started':
      return events.started(message.num_sequences)
    case 'gradient_step':
      return events.gradientStep(message.metrics)
    case 'job_failed':
      throw new Error(message.error_message)
    case 'job_cancelled':
      throw new Error('The worker cancelled the job')
  }
}

function succeed(
  deps: RunJobDeps,
  job: JobRow,
  saved: { directory: string; metrics: Record<string, number> },
): Promise<number> {
  const next = { model_id: job.model_id, job_id: job.id, ...saved }
  return deps.checkpoints.addNext(next, async (tx, step) => {
    const end = { state: 'succeeded', error_message: null, checkpoint_step: step } as const
    if (!(await endJob(tx, job.id, end))) throw new Error('The job has ended already')
  })
}
