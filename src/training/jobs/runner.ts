import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'
import { fairOrder } from './queue.ts'
import { type Progress, type RunJobDeps, runJob } from './run-job.ts'
import { ATTEMPTS_MAX, createSettling } from './settling.ts'

/** Pause of a queue after an error of the database, such as a full disk. */
const QUEUE_RETRY_MS = 2_000

export type JobRunner = ReturnType<typeof createJobRunner>

interface RunningJob {
  abort: AbortController
  cancelReason: string | undefined
  progress: Progress | null
}

/** Runs the jobs of each base model one after the other; models take turns. */
export function createJobRunner(deps: RunJobDeps) {
  const { control, baseModels, files, log } = deps
  const disposal = new AbortController()
  const queues = new Map<string, Promise<void>>()
  const running = new Map<string, RunningJob>()
  const settling = createSettling({ ...deps, stopping: disposal.signal })

  async function run(job: JobRow, own: RunningJob): Promise<void> {
    log.info({ job: job.id, model: job.model_id, attempt: job.attempts }, 'training job started')
    try {
      const signal = AbortSignal.any([disposal.signal, own.abort.signal])
      const onProgress = (progress: Progress): void => {
        own.progress = progress
      }
      const step = await runJob(deps, job, { signal, onProgress })
      await files.removeWork(job.id)
      log.info({ job: job.id, model: job.model_id, step }, 'training job succeeded')
    } catch (error) {
      await settling.settle(job, { error, cancelReason: own.cancelReason })
    }
  }

  /** Takes and runs the next job; false when none waits. */
  async function runNext(baseModel: string): Promise<boolean> {
    const waiting = await queries.waitingJobs(control, baseModel)
    const [next] = fairOrder(waiting, await queries.lastStarts(control, baseModel))
    if (next === undefined) return false
    // From here on a cancel finds it, also in the moment in which it is taken.
    const own: RunningJob = { abort: new AbortController(), cancelReason: undefined, progress: null }
    running.set(next.id, own)
    try {
      const job = await queries.takeJob(control, next.id)
      if (job !== undefined) await run(job, own)
    } finally {
      running.delete(next.id)
    }
    return true
  }

  async function drain(baseModel: string): Promise<void> {
    while (!disposal.signal.aborted && (await runNext(baseModel)));
  }

  /** Looks for waiting jobs of a base model. */
  function kick(baseModel: string): void {
    const before = queues.get(baseModel) ?? Promise.resolve()
    const after = before
      .then(() => drain(baseModel))
      .catch((error: unknown) => {
        if (disposal.signal.aborted) return
        log.error({ err: error, base_model: baseModel }, 'the job queue pauses')
        setTimeout(() => kick(baseModel), QUEUE_RETRY_MS).unref()
      })
    queues.set(baseModel, after)
  }

  /** Takes up all waiting jobs, as soon as there is an engine. */
  async function kickAll(): Promise<void> {
    await baseModels.untilAvailable(disposal.signal)
    for (const job of await queries.openJobs(control, 'queued')) kick(job.base_model)
  }

  async function cancel(job: JobRow, reason: string): Promise<void> {
    const own = running.get(job.id)
    if (own === undefined) return settling.end(job, 'cancelled', reason)
    own.cancelReason = reason
    baseModels.sendToTrainer(job.base_model, { kind: 'cancel_job', job_id: job.id })
    // Nothing more of this job counts; the worker takes the next one once it has noticed.
    own.abort.abort(new Error(reason))
  }

  return {
    kick,
    cancel,
    progressOf: (jobId: string): Progress | null => running.get(jobId)?.progress ?? null,

    /** The place of each waiting job of a base model, from 1. */
    async positions(baseModel: string): Promise<Map<string, number>> {
      const waiting = await queries.waitingJobs(control, baseModel)
      const order = fairOrder(waiting, await queries.lastStarts(control, baseModel))
      return new Map(order.map((job, index) => [job.id, index + 1]))
    },

    /** Takes up what an earlier server left: jobs that were running go on from their last gradient step. */
    async start(): Promise<AsyncDisposable> {
      await files.clear()
      await files.keepWorkOf([
        ...(await queries.openJobs(control, 'running')),
        ...(await queries.openJobs(control, 'queued')),
      ])
      for (const job of await queries.openJobs(control, 'running')) {
        const reason = 'The server was started again'
        if (job.attempts < ATTEMPTS_MAX) await queries.requeue(control, job.id, { reason })
        else await settling.end(job, 'failed', `The server ended ${job.attempts} times while this job ran`)
      }
      kickAll().catch((error: unknown) => {
        if (!disposal.signal.aborted) log.error({ err: error }, 'waiting training jobs were not taken up')
      })
      return {
        async [Symbol.asyncDispose]() {
          disposal.abort(new Error('The server is stopping'))
          await Promise.all(queues.values())
        },
      }
    },
  }
}
