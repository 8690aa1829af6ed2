import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { endJob, type JobRow, openJobs, openJobsOfModel, requeue, takeNextJob } from './queries.ts'
import { type Progress, type RunJobDeps, runJob } from './run-job.ts'

/** A job that was running each time the server ended may be what ended it. */
const ATTEMPTS_MAX = 3

export type JobRunner = ReturnType<typeof createJobRunner>

interface RunningJob {
  abort: AbortController
  cancelReason: string | undefined
  progress: Progress | null
}

/** Runs the jobs of each base model one after the other, in the order in which they came. */
export function createJobRunner(deps: RunJobDeps & { log: Log }) {
  const { control, baseModels, log } = deps
  const disposal = new AbortController()
  const queues = new Map<string, Promise<void>>()
  const running = new Map<string, RunningJob>()

  async function run(job: JobRow): Promise<void> {
    const own: RunningJob = { abort: new AbortController(), cancelReason: undefined, progress: null }
    running.set(job.id, own)
    log.info({ job: job.id, model: job.model_id, attempt: job.attempts }, 'training job started')
    try {
      const signal = AbortSignal.any([disposal.signal, own.abort.signal])
      const onProgress = (progress: Progress): void => {
        own.progress = progress
      }
      const step = await runJob(deps, job, { signal, onProgress })
      log.info({ job: job.id, model: job.model_id, step }, 'training job succeeded')
    } catch (error) {
      // A job that the server's own stop interrupts is run again by the next start.
      if (disposal.signal.aborted) return
      if (own.cancelReason === undefined) await fail(deps, job, messageOf(error))
      else await endCancelled(deps, job, own.cancelReason)
    } finally {
      running.delete(job.id)
    }
  }

  async function drain(baseModel: string): Promise<void> {
    while (!disposal.signal.aborted) {
      const job = await takeNextJob(control, baseModel)
      if (job === undefined) return
      await run(job)
    }
  }

  /** Looks for waiting jobs of a base model. */
  function kick(baseModel: string): void {
    const before = queues.get(baseModel) ?? Promise.resolve()
    const after = before
      .then(() => drain(baseModel))
      .catch((error: unknown) => {
        if (!disposal.signal.aborted)
          log.error({ err: error, base_model: baseModel }, 'the job queue stopped')
      })
    queues.set(baseModel, after)
  }

  async function cancel(job: JobRow, reason: string): Promise<void> {
    const own = running.get(job.id)
    if (own === undefined) return endCancelled(deps, job, reason)
    own.cancelReason = reason
    baseModels.trainer(job.base_model).send({ kind: 'cancel_job', job_id: job.id })
    // Nothing more of this job counts; the worker takes the next one once it has noticed.
    own.abort.abort(new Error(reason))
  }

  return {
    kick,
    cancel,
    progressOf: (jobId: string): Progress | null => running.get(jobId)?.progress ?? null,

    async cancelOfModel(modelId: string): Promise<void> {
      for (const job of await openJobsOfModel(control, modelId)) await cancel(job, 'The model was deleted')
    },

    /** Takes up what an earlier server left: jobs that were running start again from where they started. */
    async start(): Promise<AsyncDisposable> {
      await deps.files.clear()
      for (const job of await openJobs(control, 'running')) {
        if (job.attempts < ATTEMPTS_MAX) await requeue(control, job.id)
        else await fail(deps, job, `The server ended ${job.attempts} times while this job ran`)
      }
      if (baseModels.isAvailable()) {
        for (const job of await openJobs(control, 'queued')) kick(job.base_model)
      }
      return {
        async [Symbol.asyncDispose]() {
          disposal.abort(new Error('The server is stopping'))
          await Promise.all(queues.values())
        },
      }
    },
  }
}

async function fail(deps: RunJobDeps & { log: Log }, job: JobRow, reason: string): Promise<void> {
  const newest = await deps.checkpoints.newest(job.model_id)
  const error_message =
    newest === undefined ? reason : `${reason}. The last checkpoint is step ${newest.step}.`
  const end = { state: 'failed', error_message, checkpoint_step: null } as const
  await deps.control.transaction().execute((tx) => endJob(tx, job.id, end))
  deps.log.warn({ job: job.id, reason }, 'training job failed')
}

async function endCancelled(deps: RunJobDeps, job: JobRow, reason: string): Promise<void> {
  const end = { state: 'cancelled', error_message: reason, checkpoint_step: null } as const
  await deps.control.transaction().execute((tx) => endJob(tx, job.id, end))
}
