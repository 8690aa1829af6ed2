import { z } from 'zod'
import { type Principals, rightsToChange } from '../../accounts/callers/principals.ts'
import { messageOf } from '../../errors.ts'
import { type Job, JobCancelled, type JobContext, type JobEnd, LeaseLost } from '../../jobs/job-kind.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import { EngineProcessLost, isUnsent } from '../../stores/compute/port.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'
import { Progress, type RunJobDeps, runJob } from './run-job.ts'
import { logToRun } from './run-metrics.ts'
import { createTrainerStarts, PassedOn, type TrainerStarts } from './trainer-starts.ts'

/**
 * A job during whose attempts the server or its worker ended each time may be the cause. Only those count that came to
 * no gradient step beyond the ones before: a job of days may be interrupted any number of times.
 */
const ATTEMPTS_MAX = 3

/** Base models that are trained at once; the memory of the machine allows for fewer. */
const AT_ONCE = 100

/** Advice for a job that its worker does not survive. */
const LOST_HINT =
  'If memory ran out, train on shorter trajectories or set HEDDLE_GRADIENT_CHECKPOINTING=on; if a single step takes long, set HEDDLE_STALL_SECONDS higher; the log of the trainer in the data folder says more'

const Nothing = z.object({})

/** Training jobs that wait or run. Each has a queue job with the same id; its own row has the state for clients. */
export interface TrainingQueue {
  /** Adds a training job, in the transaction that writes its row. */
  addIn(
    tx: ControlTx,
    job: Pick<JobRow, 'id' | 'model_id' | 'base_model'>,
    of: { entity: string; keyId: string },
  ): Promise<void>
  /** How many of an entity, or of a key, have not ended. */
  countOpenBy: JobsOfKind<unknown>['countOpenBy']
  /** Starts added jobs without delay. */
  wake(): void
  /** Ends a job early; one that waits has ended when this resolves, one that runs ends within a gradient step. */
  cancel(jobId: string, reason: string): Promise<void>
  /** Progress of running jobs. */
  progressOf(jobIds: readonly string[]): Promise<Map<string, Progress>>
  /** The place of each waiting job of a base model, from 1. */
  places(baseModel: string): Promise<Map<string, number>>
  /** Removes the engine's files of an earlier server, except the state of open jobs, and what others may use. */
  prepare(others: 'none' | 'may-use'): Promise<void>
}

interface TrainingQueueDeps extends RunJobDeps {
  jobQueue: JobQueue
  principals: Principals
  peers: Pick<Peers, 'arePossible'>
}

/** Runs the training jobs of each base model one after the other; models take turns. */
export function createTrainingQueue(deps: TrainingQueueDeps): TrainingQueue {
  const { control, files } = deps
  const jobs = defineTrainingJobs(deps)
  return {
    addIn: (tx, { id, model_id, base_model }, of) =>
      jobs.addIn(tx, [{ id, payload: {}, group: model_id, concurrencyKey: base_model, ...of }]),
    countOpenBy: jobs.countOpenBy,
    wake: jobs.wake,
    cancel: async (jobId, reason) => void (await jobs.cancel(jobId, reason)),
    async progressOf(jobIds) {
      const reports = await jobs.progressOf(jobIds)
      return new Map([...reports].map(([id, report]) => [id, Progress.parse(report)]))
    },
    places: jobs.places,
    async prepare(others) {
      await files.clear(others)
      await files.keepWorkOf(() => queries.openJobs(control))
    },
  }
}

function defineTrainingJobs(deps: TrainingQueueDeps): JobsOfKind<z.output<typeof Nothing>> {
  const { baseModels, log, peers } = deps
  const starts = createTrainerStarts(peers)
  return deps.jobQueue.define({
    kind: 'training',
    payload: Nothing,
    concurrency: AT_ONCE,
    attemptsMax: ATTEMPTS_MAX,
    order: 'groups-in-turn',
    retryMs: () => 0,
    // An error in a job is permanent; a worker may have been lost for a reason outside the job, and another server may
    // have one where this one has none.
    retries: (error) => error instanceof EngineProcessLost && (!isUnsent(error) || peers.arePossible),
    ready: (signal) => baseModels.untilAvailable(signal),
    isOutage: (error) => error instanceof PassedOn,
    isPaused: starts.isPaused,
    handle: (job, context) => run({ ...deps, starts }, job, context),
    giveUp: ({ id, attempt }, end, context) => giveUp(deps, { id, attempt, end }, context),

    async requeued(tx, id, { why, reason, attempts }) {
      const resumed = why === 'interrupted' ? 'The server that ran the job ended' : reason
      if (why === 'failed') log.warn({ job: id, reason }, 'training job goes on with the next worker')
      if (why === 'outage') log.warn({ job: id, reason }, 'training job waits until an outage ends')
      const event = why === 'stopped' ? {} : { reason: resumed, isOutage: why === 'outage' }
      await queries.requeue(tx, id, { attempts, ...event })
    },
  })
}

/**
 * One attempt at a training job, from its last gradient step on.
 * @throws 403 where its user or key may no longer change the project of its model, which ends the job
 */
async function run(
  deps: RunJobDeps & { starts: TrainerStarts; principals: Principals },
  { id, attempt, keyId }: Pick<Job<unknown>, 'id' | 'attempt' | 'keyId'>,
  { signal, progress, fence, countAnew }: JobContext,
): Promise<void> {
  const { control, files, log } = deps
  const write = <Result>(work: (tx: ControlTx) => Promise<Result>): Promise<Result> =>
    control.transaction().execute(async (tx) => {
      await fence(tx)
      return work(tx)
    })
  const job = await write((tx) => queries.startJob(tx, id, attempt))
  if (job === undefined) return afterEnd(deps, id)
  await requireRights(deps, job, keyId)
  log.info({ job: id, model: job.model_id, attempt }, 'training job started')
  signal.addEventListener('abort', () => notifyWorker(deps, job, signal.reason), { once: true })
  const of = { baseModel: job.base_model, isBegun: job.source_checkpoint_id !== null }
  const step = await deps.starts.attempt(of, (failingMs) =>
    runJob(deps, job, { signal, failingMs, onProgress: progress, fence, countAnew, write }),
  )
  await files.removeWork(id)
  log.info({ job: id, model: job.model_id, step }, 'training job succeeded')
}

/** A job from before its key was recorded goes on: it cannot be found out what its rights are. @throws 403 */
async function requireRights(
  { models, principals }: Pick<RunJobDeps, 'models'> & { principals: Principals },
  job: JobRow,
  keyId: string,
): Promise<void> {
  if (keyId === '') return
  const { entity, project } = await models.existing(job.model_id)
  await rightsToChange(principals, {
    user: job.created_by,
    key_id: keyId,
    project_id: `${entity}/${project}`,
  })
}

/**
 * A server may have ended between the end of the training job and that of its queue job. The metrics may have been
 * logged then: they are logged twice rather than not at all.
 */
async function afterEnd(deps: RunJobDeps, id: string): Promise<void> {
  const job = await queries.findJob(deps.control, id)
  if (job?.state === 'succeeded' && job.checkpoint_step !== null)
    await logToRun(deps, job, await deps.models.existing(job.model_id), job.checkpoint_step)
  await deps.files.removeWork(id)
}

/** The worker takes the next job after it has noticed that the rest of this one is not needed. */
function notifyWorker({ baseModels, log }: RunJobDeps, job: JobRow, reason: unknown): void {
  if (!(reason instanceof JobCancelled || reason instanceof LeaseLost)) return
  try {
    baseModels.sendToTrainer(job.base_model, { kind: 'cancel_job', job_id: job.id })
  } catch (error) {
    log.warn(
      { job: job.id, reason: messageOf(error) },
      'the worker could not be notified that a job was cancelled',
    )
  }
}

/** Ends a training job that did not succeed. */
async function giveUp(
  deps: RunJobDeps,
  { id, attempt, end }: { id: string; attempt: number; end: JobEnd },
  { fence }: Pick<JobContext, 'fence'>,
): Promise<void> {
  const { control, files, log } = deps
  const job = await queries.findJob(control, id)
  if (job === undefined || job.ended_at !== null) return files.removeWork(id)
  const state = end.why === 'cancelled' ? 'cancelled' : 'failed'
  const reason = reasonOf(end, attempt)
  const error_message = state === 'failed' ? await withLastStep(deps, job, reason) : reason
  await control.transaction().execute(async (tx) => {
    await fence(tx)
    await queries.endJob(tx, id, { state, error_message, checkpoint_step: null })
  })
  await files.removeWork(id)
  log.warn({ job: id, state, reason }, 'training job ended')
}

function reasonOf({ why, reason, error }: JobEnd, attempt: number): string {
  if (why === 'interrupted')
    return `The server ended ${attempt - 1} times while this job ran, without a further gradient step`
  return error instanceof EngineProcessLost ? `${reason}. ${LOST_HINT}` : reason
}

async function withLastStep({ checkpoints }: RunJobDeps, job: JobRow, reason: string): Promise<string> {
  const newest = await checkpoints.newest(job.model_id)
  return newest === undefined ? reason : `${reason}. The last checkpoint is step ${newest.step}.`
}
