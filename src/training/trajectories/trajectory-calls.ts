import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Log } from '../../log.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { callsOfGroup, type GroupCalls, type TrajectorySource } from './group-calls.ts'

/** Calls written at once: enough to make a commit worth its while, few enough to hold. */
const CALLS_PER_WRITE = 500

/** Groups held at once: the texts of calls are slices of their group's text, which keep all of it in memory. */
const GROUP_CHARS_PER_WRITE = 16 * 1024 * 1024

/** A job whose trajectories are still to be shown. */
export interface UntracedJob {
  id: string
  source: TrajectorySource
  path: string
}

export type TrajectoryCalls = ReturnType<typeof createTrajectoryCalls>

export interface TrajectoryCallsDeps {
  calls: Pick<Calls, 'record'>
  feedback: Pick<Feedback, 'record'>
  log: Log
  /** Jobs whose trajectories have not become calls yet, oldest first. */
  untraced: () => Promise<UntracedJob[]>
  setTraced: (jobId: string) => Promise<void>
}

/** Shows trajectories as calls of the model's project, so that they can be read, filtered and judged. */
export function createTrajectoryCalls({ calls, feedback, log, untraced, setTraced }: TrajectoryCallsDeps) {
  const disposal = new AbortController()
  let working: Promise<void> | undefined
  let wanted = false

  async function write(source: TrajectorySource, user: string, batch: GroupCalls): Promise<void> {
    if (batch.calls.length > 0) await calls.record(source.project_id, batch.calls, user)
    if (batch.rewards.length > 0) await feedback.record(batch.rewards, user)
  }

  /** Writes the groups of a file, one a line; the same file again changes nothing. Resolves with their number of calls. */
  async function writeFile(path: string, source: TrajectorySource, user: string): Promise<number> {
    let batch: GroupCalls = { calls: [], rewards: [] }
    let index = 0
    let written = 0
    let chars = 0
    for await (const line of linesOf(path)) {
      disposal.signal.throwIfAborted()
      const { calls: more, rewards } = callsOfGroup(line, index++, source)
      batch = { calls: [...batch.calls, ...more], rewards: [...batch.rewards, ...rewards] }
      written += more.length
      chars += line.length
      if (batch.calls.length < CALLS_PER_WRITE && chars < GROUP_CHARS_PER_WRITE) continue
      await write(source, user, batch)
      batch = { calls: [], rewards: [] }
      chars = 0
    }
    await write(source, user, batch)
    return written
  }

  /** What fails is tried again with the next start, and does not keep others from being shown. */
  async function show({ id, path, source }: UntracedJob): Promise<void> {
    try {
      await writeFile(path, source, USER)
      await setTraced(id)
    } catch (error) {
      disposal.signal.throwIfAborted()
      log.error({ err: error, job: id }, 'the trajectories of a job could not be shown as calls')
    }
  }

  async function drain(): Promise<void> {
    while (wanted && !disposal.signal.aborted) {
      wanted = false
      for (const job of await untraced()) await show(job)
    }
  }

  /** Looks for jobs to show. */
  function kick(): void {
    wanted = true
    working ??= drain()
      .catch((error: unknown) => {
        if (!disposal.signal.aborted) log.error({ err: error }, 'trajectories could not be shown as calls')
      })
      .finally(() => {
        working = undefined
      })
  }

  return {
    kick,
    writeFile,
    start(): AsyncDisposable {
      kick()
      return {
        async [Symbol.asyncDispose]() {
          disposal.abort(new Error('The server is stopping'))
          await working
        },
      }
    },
  }
}

/** Who writes the calls of training jobs. */
const USER = 'heddle'

/** The lines of a file, one in memory at a time. */
export function linesOf(path: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
}
