import type { Contents } from '../../contents.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { Trainer } from '../../stores/compute/port.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { CheckpointFiles } from '../checkpoints/files.ts'
import type { ModelOfCheckpoints, StoredCheckpoint } from '../checkpoints/rows.ts'
import type { Checkpoints } from '../checkpoints/service.ts'
import type { Models } from '../models/service.ts'
import { WorkerMessage, type WorkerRequest } from './contract-wire.ts'
import { StoredRlConfig, storedSftConfig } from './job-config.ts'
import { createJobEvents, type JobEvents } from './job-events.ts'
import { endJob, type JobRow, setSource } from './queries.ts'
import { logToRun, type RunMetricsDeps } from './run-metrics.ts'

/** Where a running job is. */
export interface Progress {
  phase: string
  done: number
  total: number
}

export interface RunJobDeps extends RunMetricsDeps {
  blobs: Blobs
  contents: Contents
  models: Models
  baseModels: BaseModels
  checkpoints: Checkpoints
  files: CheckpointFiles
}

interface RunOptions {
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/**
 * Has the worker run one job; resolves with the new step, which is committed together with the job's end.
 * @throws Error with the reason when the job fails; the signal's reason when it is aborted.
 */
export async function runJob(deps: RunJobDeps, job: JobRow, options: RunOptions): Promise<number> {
  const directory = await deps.files.outputFolder()
  const folders = [directory]
  const layOut = async (checkpoint: StoredCheckpoint): Promise<string> => {
    const path = await deps.files.checkpointFolder(checkpoint.manifest)
    folders.push(path)
    return path
  }
  try {
    const model = await deps.models.existing(job.model_id)
    const request = await requestOf(deps, job, { model, directory, layOut })
    return await deps.baseModels.withTrainer(job.base_model, async (trainer) => {
      const saved = await follow(deps, job, { trainer, request, ...options })
      const step = await succeed(deps, job, model, saved)
      await logToRun(deps, job, model, step)
      return step
    })
  } finally {
    await deps.files.removeFolders(folders)
  }
}

type Saved = Extract<WorkerMessage, { kind: 'checkpoint_saved' }>

/** Records what the worker says of the job, up to its last word. */
async function follow(
  deps: RunJobDeps,
  job: JobRow,
  work: RunOptions & { trainer: Trainer; request: WorkerRequest },
): Promise<Saved> {
  const events = await createJobEvents(deps.control, job.id)
  // Nobody's patience ends: a job waits until memory is free for its worker.
  for await (const raw of work.trainer.run(work.request, { whenFull: 'wait' }, work.signal)) {
    try {
      const message = WorkerMessage.parse(raw)
      // A worker may still be finishing a job that was cancelled.
      if (!('job_id' in message) || message.job_id !== job.id) continue
      if (message.kind === 'checkpoint_saved') return message
      if (message.kind !== 'job_progress') await recordEvent(events, message)
      else work.onProgress({ phase: message.phase, done: message.done, total: message.total })
    } catch (error) {
      // What cannot be recorded need not be trained on.
      work.trainer.send({ kind: 'cancel_job', job_id: job.id })
      throw error
    }
  }
  throw new Error('The worker ended the job without a result')
}

/** Lays a checkpoint out for as long as the job runs. */
type LayOut = (checkpoint: StoredCheckpoint) => Promise<string>

async function requestOf(
  deps: RunJobDeps,
  job: JobRow,
  at: { model: ModelOfCheckpoints; directory: string; layOut: LayOut },
): Promise<WorkerRequest> {
  const source = await sourceOf(deps, job)
  const anyJob = {
    job_id: job.id,
    checkpoint_dir: await at.layOut(source),
    output_dir: at.directory,
    work_dir: deps.files.workFolder(job.id),
  }
  if (job.kind === 'sft') {
    const data_path = present(await deps.contents.localPath(job.data_key))
    return { kind: 'sft_job', ...anyJob, data_path, config: storedSftConfig(job.config).worker }
  }
  const config = StoredRlConfig.parse(JSON.parse(job.config))
  return {
    kind: 'rl_job',
    ...anyJob,
    policy_step: source.step,
    reference_dir: await referenceOf(deps, config, { ...at, step: source.step }),
    trajectory_groups_path: present(await deps.blobs.localPath(job.data_key)),
    config: config.worker,
  }
}

function present(path: string | undefined): string {
  if (path === undefined) throw new Error('What this job trains on is missing')
  return path
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

/** What the KL penalty refers to: a folder with a checkpoint, or null for the base model. */
async function referenceOf(
  deps: RunJobDeps,
  config: StoredRlConfig,
  at: { model: ModelOfCheckpoints; layOut: LayOut; step: number },
): Promise<string | null> {
  const { kl_penalty_reference_step, kl_penalty_step_lag } = config
  const lagging = kl_penalty_step_lag === null ? null : Math.max(0, at.step - kl_penalty_step_lag)
  const step = kl_penalty_reference_step ?? lagging
  if (step === null) return null
  const reference = await deps.checkpoints.find(at.model, String(step))
  if (reference === undefined)
    throw new Error(`The KL penalty refers to step ${step}, which the model does not have`)
  return at.layOut(reference)
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
  model: ModelOfCheckpoints,
  saved: { directory: string; metrics: Record<string, number> },
): Promise<number> {
  const { directory, metrics } = saved
  const next = { job_id: job.id, dataset_ref: job.dataset_ref, directory, metrics }
  return deps.checkpoints.addNext(model, next, async (tx, step) => {
    const end = { state: 'succeeded', error_message: null, checkpoint_step: step } as const
    if (!(await endJob(tx, job.id, end))) throw new Error('The job has ended already')
  })
}
