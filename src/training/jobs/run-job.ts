import { z } from 'zod'
import type { Contents } from '../../contents/service.ts'
import type { Trainer } from '../../stores/compute/port.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { CheckpointFiles } from '../checkpoint-files/checkpoint-files.ts'
import type { ModelOfCheckpoints, StoredCheckpoint } from '../checkpoints/rows.ts'
import type { Checkpoints } from '../checkpoints/service.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import { WorkerMessage, type WorkerRequest } from '../trainer/contract-wire.ts'
import { StoredRlConfig, storedSftConfig } from './job-config.ts'
import { createJobEvents, type FencedWrite, type JobEvents } from './job-events.ts'
import { createOwnMessages, type JobMessage } from './own-messages.ts'
import { endJob, type JobRow, setSource } from './queries.ts'
import { logToRun, type RunMetricsDeps } from './run-metrics.ts'

/** Progress of a running job. */
export const Progress = z.object({ phase: z.string(), done: z.number(), total: z.number() })
export type Progress = z.output<typeof Progress>

export interface RunJobDeps extends RunMetricsDeps {
  contents: Contents
  models: Pick<ModelRegistry, 'existing'>
  baseModels: BaseModels
  checkpoints: Checkpoints
  files: CheckpointFiles
}

interface RunOptions {
  signal: AbortSignal
  /** How long the job waits for a worker that cannot be started, in milliseconds. */
  failingMs: number
  onProgress: (progress: Progress) => void
  /** Makes a transaction depend on the lease of the job. */
  fence: (tx: ControlTx) => Promise<void>
  /** Counts the attempt as the job's first. */
  countAnew: (tx: ControlTx) => Promise<void>
  /** Runs a transaction that depends on the lease. */
  write: FencedWrite
}

/**
 * Has the worker run one job; resolves with the new step, which is committed together with the job's end.
 * @throws Error with the reason when the job fails; the signal's reason when it is aborted.
 */
export async function runJob(deps: RunJobDeps, job: JobRow, options: RunOptions): Promise<number> {
  const output = await deps.files.outputFolder()
  const folders = [output]
  const layOut: LayOut = async (making) => {
    const folder = await making
    folders.push(folder)
    return folder
  }
  try {
    const model = await deps.models.existing(job.model_id)
    const request = await requestOf(deps, job, { model, output, layOut, write: options.write })
    return await deps.baseModels.withTrainer(job.base_model, async (trainer) => {
      const { metrics } = await follow(deps, job, { trainer, request, ...options })
      const step = await succeed(deps, job, { model, output, metrics, fence: options.fence })
      await logToRun(deps, job, model, step)
      return step
    })
  } finally {
    await deps.files.removeFolders(folders)
  }
}

type JobRequest = Extract<WorkerRequest, { work_dir: string }>
type Saved = Extract<WorkerMessage, { kind: 'checkpoint_saved' }>

/** Records the worker's messages about the job, up to the last one. */
async function follow(
  deps: RunJobDeps,
  job: JobRow,
  work: RunOptions & { trainer: Trainer; request: JobRequest },
): Promise<Saved> {
  const own = createOwnMessages(work.request)
  let events: JobEvents | undefined
  // No time limit: a job waits until memory is free for its worker.
  const wait = { whenFull: 'wait', failingMs: work.failingMs } as const
  for await (const raw of work.trainer.run(work.request, wait, work.signal)) {
    try {
      const message = own(WorkerMessage.parse(raw))
      if (message === undefined) continue
      // Earlier attempts have recorded some events, which are skipped: they are counted whenever the messages start
      // again.
      if (events === undefined || message.sequence === 1)
        events = await createJobEvents(deps.control, job.id, work)
      if (message.kind !== 'job_progress') await recordEvent(events, message)
      if (message.kind === 'checkpoint_saved') return message
      if (message.kind === 'job_progress')
        work.onProgress({ phase: message.phase, done: message.done, total: message.total })
    } catch (error) {
      // When an event cannot be recorded, the job stops.
      work.trainer.send({ kind: 'cancel_job', job_id: job.id })
      throw error
    }
  }
  throw new Error('The worker ended the job without a result')
}

/** Keeps a folder that is being laid out until the job ends. */
type LayOut = (making: Promise<string>) => Promise<string>

async function requestOf(
  deps: RunJobDeps,
  job: JobRow,
  at: { model: ModelOfCheckpoints; output: string; layOut: LayOut; write: FencedWrite },
): Promise<JobRequest> {
  const source = await sourceOf(deps, job, at.write)
  const anyJob = {
    job_id: job.id,
    checkpoint_dir: await at.layOut(deps.files.checkpointFolder(source.manifest)),
    output_dir: at.output,
    work_dir: deps.files.workFolder(job.id),
  }
  if (job.kind === 'sft') {
    const blobKey = await deps.contents.blobKeyOf(job.data_key)
    if (blobKey === undefined) throw new Error('What this job trains on is missing')
    const data_path = await dataPath(deps, blobKey, at.layOut)
    return { kind: 'sft_job', ...anyJob, data_path, config: storedSftConfig(job.config).worker }
  }
  const config = StoredRlConfig.parse(JSON.parse(job.config))
  return {
    kind: 'rl_job',
    ...anyJob,
    model: `${at.model.entity}/${at.model.project}/${at.model.name}`,
    policy_step: source.step,
    reference_dir: await referenceOf(deps, config, { ...at, step: source.step }),
    trajectory_groups_path: await dataPath(deps, job.data_key, at.layOut),
    config: config.worker,
  }
}

/** Lays out the training data of a job; returns its path in the workspace. */
async function dataPath({ files }: RunJobDeps, blobKey: string, layOut: LayOut): Promise<string> {
  return `${await layOut(files.dataFolder({ name: DATA_FILE, blobKey }))}/${DATA_FILE}`
}

const DATA_FILE = 'data.jsonl'

/** The model's newest checkpoint when the job first starts; the same one in later attempts. */
async function sourceOf(deps: RunJobDeps, job: JobRow, write: FencedWrite): Promise<StoredCheckpoint> {
  if (job.source_checkpoint_id !== null) {
    const known = await deps.checkpoints.byId(job.source_checkpoint_id)
    if (known !== undefined) return known
  }
  const newest = await deps.checkpoints.newest(job.model_id)
  if (newest === undefined) throw new Error('The model has no checkpoint to train from: all were deleted')
  await write((tx) => setSource(tx, job.id, newest.id))
  return newest
}

/** The reference of the KL penalty: a folder with a checkpoint, or null for the base model. */
async function referenceOf(
  deps: RunJobDeps,
  config: StoredRlConfig,
  at: { model: ModelOfCheckpoints; layOut: LayOut; step: number },
): Promise<string | null> {
  const { kl_penalty_reference_step: exact, kl_penalty_step_lag: lag } = config
  const step = exact ?? (lag === null ? null : Math.max(0, at.step - lag))
  if (step === null) return null
  // Steps of uploads and forks leave gaps, and old steps are deleted: the lag means what was the newest then.
  const reference =
    exact === null
      ? await deps.checkpoints.newestAt(at.model.id, step)
      : await deps.checkpoints.find(at.model, String(step))
  if (reference === undefined)
    throw new Error(`The KL penalty refers to step ${step}, which the model does not have`)
  return at.layOut(deps.files.checkpointFolder(reference.manifest))
}

async function recordEvent(
  events: JobEvents,
  message: Exclude<JobMessage, { kind: 'job_progress' }>,
): Promise<void> {
  switch (message.kind) {
    case 'training_started':
      return events.started(message.num_sequences)
    case 'gradient_step':
      return events.gradientStep(message.metrics)
    case 'checkpoint_saved':
      return events.saved(message.metrics)
    case 'job_failed':
      throw new Error(message.error_message)
  }
}

function succeed(
  deps: RunJobDeps,
  job: JobRow,
  made: {
    model: ModelOfCheckpoints
    output: string
    metrics: Record<string, number>
    fence: RunOptions['fence']
  },
): Promise<number> {
  const { model, output, metrics, fence } = made
  const next = { job_id: job.id, dataset_ref: job.dataset_ref, folder: output, metrics }
  return deps.checkpoints.addNext(model, next, async (tx, step) => {
    await fence(tx)
    const end = { state: 'succeeded', error_message: null, checkpoint_step: step } as const
    if (!(await endJob(tx, job.id, end))) throw new Error('The job has ended already')
  })
}
