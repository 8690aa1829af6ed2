import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Log } from '../../log.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { callsOfGroup, type GroupCall, type TrajectorySource } from './group-calls.ts'

/** Calls written at once: enough to make a commit worth its while, few enough to hold. */
const CALLS_PER_WRITE = 500

/** Characters of payloads written at once: each turn repeats the messages before it. */
const CHARS_PER_WRITE = 4 * 1024 * 1024

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

  /** Writes the groups of a file, one a line; the same file again changes nothing. Resolves with their number of calls. */
  async function writeFile(path: string, source: TrajectorySource, user: string): Promise<number> {
    let batch: GroupCall[] = []
    let index = 0
    let written = 0
    let chars = 0
    for await (const line of linesOf(path)) {
      for (const shown of callsOfGroup(line, index++, source)) {
        batch.push(shown)
        written++
        chars += shown.call.inputs.text.length + (shown.call.output?.text.length ?? 0)
        if (batch.length < CALLS_PER_WRITE && chars < CHARS_PER_WRITE) continue
        disposal.signal.throwIfAborted()
        await write(source, user, batch)
        batch = []
        chars = 0
      }
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
