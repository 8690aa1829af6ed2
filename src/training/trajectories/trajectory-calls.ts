import { z } from 'zod'
import type { JobQueue } from '../../jobs/job-queue.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { linesOf } from './blob-lines.ts'
import type { TrajectorySource } from './group-calls.ts'
import { areEnough, type GroupRows, noRows } from './group-rows.ts'
import { groupRows } from './make-group-rows.ts'

/** Attempts over some fifty minutes. Those that an outage of a store ends, such as a full disk, are not counted. */
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
  calls: Pick<Calls, 'acceptParts'>
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

  async function write({ parts, rewards, calls: count }: GroupRows, user: string): Promise<void> {
    if (count === 0) return
    await calls.acceptParts(parts)
    const all = rewards.map((reward) => ({ ...reward, payload: new JsonText(reward.payload) }))
    if (all.length > 0) await feedback.record(all, user)
  }

  async function writeGroups(
    { key, source }: JobTrajectories,
    user: string,
    signal?: AbortSignal,
  ): Promise<number> {
    let batch = noRows()
    let index = 0
    let written = 0
    for await (const bytes of linesOf(blobs, key)) {
      for (const rows of await groupRows({ bytes, index: index++, source, user })) {
        for (const part of rows.parts) batch.parts.push(part)
        for (const reward of rows.rewards) batch.rewards.push(reward)
        batch.calls += rows.calls
        batch.chars += rows.chars
        written += rows.calls
        if (!areEnough(batch)) continue
        signal?.throwIfAborted()
        await write(batch, user)
        batch = noRows()
      }
    }
    await write(batch, user)
    return written
  }

  return {
    writeGroups,
    addIn: (tx, id, entity) => queued.addIn(tx, [{ id, payload: {}, entity }]),
  }
}

/** The user recorded in the calls of training jobs. */
const USER = 'heddle'
