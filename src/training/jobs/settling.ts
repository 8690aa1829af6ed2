import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import { PartLost } from '../../stores/compute/port.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'
import type { RunJobDeps } from './run-job.ts'

/** A job that ran each time the server or its worker ended may be what ended them. */
export const ATTEMPTS_MAX = 3

/** Between tries to write down how a job ended, while the disk is full or the database cannot be written. */
const END_RETRY_MS = 2_000

/** What people can do about a job that a worker does not survive. */
const LOST_HINT =
  'If memory ran out, train on shorter trajectories or lower packed_sequence_length; the log of the trainer in the data folder says more'

/** Brings jobs that did not succeed to their end, or to another attempt. */
export function createSettling(deps: RunJobDeps & { stopping: AbortSignal }) {
  const { control, checkpoints, files, log, stopping } = deps

  /** What becomes of a job that did not succeed. */
  async function settle(
    job: JobRow,
    { error, cancelReason }: { error: unknown; cancelReason: string | undefined },
  ): Promise<void> {
    if (cancelReason !== undefined) return end(job, 'cancelled', cancelReason)
    // A job that the server's own stop interrupts goes on with the next start, and was not its fault.
    if (stopping.aborted) return queries.requeue(control, job.id, { attempts: job.attempts - 1 })
    if (!(error instanceof PartLost)) return end(job, 'failed', messageOf(error))
    const lost = `${error.message}. ${LOST_HINT}`
    if (error.request === 'unsent' || job.attempts >= ATTEMPTS_MAX) return end(job, 'failed', lost)
    log.warn({ job: job.id, reason: error.message }, 'training job goes on with the next worker')
    await untilWritten(() => queries.requeue(control, job.id, { reason: error.message }))
  }

  async function end(job: JobRow, state: 'failed' | 'cancelled', reason: string): Promise<void> {
    const error_message = state === 'failed' ? await withLastStep(job, reason) : reason
    await untilWritten(() =>
      control
        .transaction()
        .execute((tx) => queries.endJob(tx, job.id, { state, error_message, checkpoint_step: null })),
    )
    await files.removeWork(job.id)
    log.warn({ job: job.id, state, reason }, 'training job ended')
  }

  async function withLastStep(job: JobRow, reason: string): Promise<string> {
    const newest = await checkpoints.newest(job.model_id)
    return newest === undefined ? reason : `${reason}. The last checkpoint is step ${newest.step}.`
  }

  /** An end must be written down, whatever the database says at first. */
  async function untilWritten(write: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await write()
        return
      } catch (error) {
        if (stopping.aborted) return
        log.error({ err: error }, 'the end of a training job could not be written yet')
        await delay(END_RETRY_MS, undefined, { signal: stopping }).catch(() => {})
      }
    }
  }

  return { settle, end }
}
