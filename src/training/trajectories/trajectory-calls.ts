import { z } from 'zod'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { linesOf } from './blob-lines.ts'
import { callsOfGroup, type GroupCall, type TrajectorySource } from './group-calls.ts'

/** Calls written at once: enough to amortise a commit, few enough for memory. */
const CALLS_PER_WRITE = 500

/** Characters of payloads written at once: each turn repeats the messages before it. */
const CHARS_PER_WRITE = 4 * 1024 * 1024

/** Attempts over some hours, in which a full disk may be noticed. */
const ATTEMPTS_MAX = 12

/** The data from which the calls of a training job's trajectories are made. */
export interface JobTrajectories {
  source: TrajectorySource
  /** Key of the blob with its groups. */
  key: string
}

/** Writes trajectories as calls of the model's project, so that they can be read, filtered and judged. */
export interface TrajectoryCalls {
  /**
   * Writes the groups of a blob, one a line; the same blob again changes nothing.
   * @returns the number of calls.
   */
  writeGroups(trajectories: JobTrajectories, user: string, signal?: AbortSignal): Promise<number>
  /** Adds a job that writes the trajectories of a training job, in the transaction that adds this one. */
  addIn(tx: ControlTx, trainingJobId: string, entity: string): Promise<void>
}

export interface TrajectoryCallsDeps {
  blobs: Blobs
  calls: Pick<Calls, 'record'>
  feedback: Pick<Feedback, 'record'>
  jobQueue: JobQueue
  log: Log
  /** Undefined for a training job that is gone, or whose data is. */
  trajectoriesOf: (trainingJobId: string) => Promise<JobTrajectories | undefined>
}

export function createTrajectoryCalls(deps: TrajectoryCallsDeps): TrajectoryCalls {
  const { blobs, calls, feedback, jobQueue, log, trajectoriesOf } = deps
  const queued = jobQueue.define({
    kind: 'trajectory_calls',
    payload: z.object({}),
    concurrency: 1,
    attemptsMax: ATTEMPTS_MAX,
    async handle({ id }, { signal }) {
      const trajectories = await trajectoriesOf(id)
      if (trajectories !== undefined) await writeGroups(trajectories, USER, signal)
    },
    async giveUp({ id }, { reason }) {
      log.error({ job: id, reason }, 'the trajectories of a job could not be shown as calls')
    },
  })

  async function write(source: TrajectorySource, user: string, batch: readonly GroupCall[]): Promise<void> {
    if (batch.length === 0) return
    const rewards = batch.flatMap(({ reward }) => (reward === undefined ? [] : [reward]))
    await calls.record(
      source.project_id,
      batch.map(({ call }) => call),
      user,
    )
    if (rewards.length > 0) await feedback.record(rewards, user)
  }

  async function writeGroups(
    { key, source }: JobTrajectories,
    user: string,
    signal?: AbortSignal,
  ): Promise<number> {
    let batch: GroupCall[] = []
    let index = 0
    let written = 0
    let chars = 0
    for await (const line of linesOf(blobs, key)) {
      for (const shown of callsOfGroup(line, index++, source)) {
        batch.push(shown)
        written++
        chars += shown.call.inputs.text.length + (shown.call.output?.text.length ?? 0)
        if (batch.length < CALLS_PER_WRITE && chars < CHARS_PER_WRITE) continue
        signal?.throwIfAborted()
        await write(source, user, batch)
        batch = []
        chars = 0
      }
    }
    await write(source, user, batch)
    return written
  }

  return {
    writeGroups,
    addIn: (tx, id, entity) => queued.addIn(tx, [{ id, payload: {}, entity }]),
  }
}

/** The user recorded in the calls of training jobs. */
const USER = 'heddle'
