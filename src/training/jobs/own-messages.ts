import type { WorkerMessage } from '../trainer/contract-wire.ts'

/** What a worker reports of a job that was not cancelled. */
export type JobMessage = Exclude<Extract<WorkerMessage, { job_id: string }>, { kind: 'job_cancelled' }>

/** What identifies one attempt at a job. */
export interface Attempt {
  job_id: string
  /** A folder that no other attempt writes to. */
  output_dir: string
}

/**
 * Returns a filter for the messages of one attempt: each message, or undefined for one that is not of this attempt. The
 * worker may still be running another job that was cancelled, or an earlier attempt at this job that the server has
 * abandoned. Messages of an attempt are numbered from 1, so those of an abandoned attempt continue its numbers. If the
 * server had read none of them, they are accepted, which is harmless: each attempt repeats the messages of the one
 * before, and this attempt's start again at 1.
 */
export function createOwnMessages({ job_id, output_dir }: Attempt) {
  let last = 0
  return (message: WorkerMessage): JobMessage | undefined => {
    if (!('job_id' in message) || message.job_id !== job_id || message.kind === 'job_cancelled')
      return undefined
    if (message.kind === 'checkpoint_saved' && message.directory !== output_dir) return undefined
    const isNext = message.sequence === 1 || message.sequence === last + 1
    if (isNext) last = message.sequence
    return isNext ? message : undefined
  }
}
