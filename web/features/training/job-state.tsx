import type { Job } from '../../api/training.ts'
import { Status, type StatusKind } from '../../components/status.tsx'

const KINDS: Record<Job['state'], StatusKind> = {
  queued: 'pending',
  running: 'running',
  succeeded: 'ok',
  failed: 'error',
  cancelled: 'abandoned',
}

/** The state of a job, with its phase or its place in the queue. */
export function JobState({ job }: { job: Pick<Job, 'state' | 'progress' | 'queue_position'> }) {
  return <Status kind={KINDS[job.state]} word={jobWords(job)} />
}

/** `training 3 of 12`, `queued, next`, `succeeded`. */
export function jobWords({
  state,
  progress,
  queue_position,
}: Pick<Job, 'state' | 'progress' | 'queue_position'>): string {
  if (state === 'running' && progress != null) {
    const { phase, done, total } = progress
    return total > 0 ? `${phase} ${done} of ${total}` : phase
  }
  if (state === 'queued' && queue_position != null)
    return queue_position === 1 ? 'queued, next' : `queued, place ${queue_position}`
  return state
}
