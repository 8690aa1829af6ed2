import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../errors.ts'
import { newId } from '../../../ids.ts'
import { shellWord } from '../../../shell-word.ts'
import type { StartHooks } from '../program.ts'
import { connectToNode, type NodeConnection, SILENCE_MS_MAX } from './connection.ts'
import type { EnginePackage } from './engine-package.ts'
import type { RayJobState, RayJobs, RayResources } from './jobs-api.ts'
import { onceReachable } from './once-reachable.ts'
import type { OwnJobs } from './own-jobs.ts'

/** As many as cannot be guessed. */
const KEY_BYTES = 32

/** How often a job is looked at until its program can be connected to. */
const POLL_MS = 500

/** A job that runs says within a second where it listens, and on a busy node some later. */
const SILENT_JOB_MS_MAX = 60_000

/** The server's whole stop must fit 10 s. */
const STOP_MS_MAX = 3_000

/** A node whose connection is lost ends the program after its own silence, and needs a moment for it. */
const ENDS_MS_MAX = SILENCE_MS_MAX + 5_000

/** Wire: what a job fails with that waited for fifteen minutes, unless the cluster has another limit. */
const WAITED_TOO_LONG = 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT'

/** Characters of a line of Ray that messages quote. */
const LINE_CHARS_MAX = 400

/** What the program on the node writes once it listens (engine/src/engine/remote.py). */
const LISTENS = /^heddle-engine listens on (\S+) (\d+)$/m

export interface JobStarterOptions {
  jobs: RayJobs
  ownJobs: OwnJobs
  enginePackage: () => Promise<EnginePackage>
  /** The Python with the engine's packages on the nodes. */
  python: string
  metadata: Record<string, string>
  resources: RayResources
  /** How long the cluster may be away, in milliseconds. */
  awayMs: number
}

/** A job of Ray that waits to be told what to run. */
export interface StartedJob {
  id: string
  connection: NodeConnection
  /** After its connection was lost: resolves once it has ended, or must have, with what Ray says of it. */
  untilEnded: () => Promise<string>
}

/**
 * Runs a job and connects to it. For as long as the cluster lacks the resources it waits.
 * @throws Error that says what Ray says, or the signal's reason; the job is stopped then
 */
export async function startJob(options: JobStarterOptions, hooks: StartHooks): Promise<StartedJob> {
  for (;;) {
    const id = `heddle-${newId()}`
    try {
      const connection = await submitAndConnect(id, options, hooks)
      return { id, connection, untilEnded: () => untilEnded(options.jobs, id) }
    } catch (error) {
      options.ownJobs.end(id)
      if (error instanceof WaitedTooLong) continue
      await options.jobs.stop(id, AbortSignal.timeout(STOP_MS_MAX)).catch(() => {})
      throw error
    }
  }
}

class WaitedTooLong extends Error {}

async function submitAndConnect(
  id: string,
  { jobs, ownJobs, enginePackage, python, metadata, resources, awayMs }: JobStarterOptions,
  { stopping, onWaiting }: StartHooks,
): Promise<NodeConnection> {
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const { name, bytes } = await enginePackage()
  const away = { awayMs, signal: stopping }
  await onceReachable(() => jobs.provide(name, bytes, stopping), away)
  ownJobs.begin(id)
  // The shell is replaced, so that signals reach the program.
  const command = `PYTHONPATH="$PWD/src" exec ${shellWord(python)} -m engine.remote`
  const env = { HEDDLE_CONNECTION_KEY: key }
  await jobs.submit({ id, command, packageName: name, env, metadata, resources }, stopping)
  const poll = () => onceReachable(() => jobs.find(id, stopping), away)
  await untilRunning(poll, { stopping, onWaiting })
  const address = await untilListening(jobs, id, { poll, stopping })
  return connectToNode({ ...address, key }, stopping)
}

/** Finds a job. */
type Poll = () => Promise<RayJobState | undefined>

async function untilRunning(poll: Poll, { stopping, onWaiting }: StartHooks): Promise<void> {
  for (;;) {
    const state = await poll()
    if (state?.errorType === WAITED_TOO_LONG) throw new WaitedTooLong()
    if (state?.status === 'RUNNING') return onWaiting(undefined)
    assertRuns(state)
    onWaiting(`Ray: ${state.message}`)
    await delay(POLL_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

async function untilListening(
  jobs: RayJobs,
  id: string,
  { poll, stopping }: { poll: Poll; stopping: AbortSignal },
): Promise<{ host: string; port: number }> {
  const startedAt = performance.now()
  for (;;) {
    const output = await jobs.output(id, stopping).catch((error: unknown) => {
      stopping.throwIfAborted()
      // Until the node can be asked, and where it is lost, its state says more.
      return messageOf(error)
    })
    const [, host, port] = LISTENS.exec(output) ?? []
    if (host !== undefined) return { host, port: Number(port) }
    assertRuns(await poll())
    if (performance.now() - startedAt > SILENT_JOB_MS_MAX)
      throw new Error(
        `the program did not print within ${SILENT_JOB_MS_MAX / 1000} s where it listens: ${gistOf(output)}`,
      )
    await delay(POLL_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

/** @throws Error for a job that has ended or is not there */
function assertRuns(state: RayJobState | undefined): asserts state is RayJobState {
  if (state === undefined) throw new Error('Ray has no record of the job any more')
  if (state.hasEnded) throw new Error(`Ray: the job ended (${state.status}): ${gistOf(state.message)}`)
}

/** Two servers of one training job would write the same files, so the next one starts when this has ended. */
async function untilEnded(jobs: RayJobs, id: string): Promise<string> {
  const signal = AbortSignal.timeout(ENDS_MS_MAX)
  let words = ''
  try {
    await jobs.stop(id, signal)
    for (;;) {
      const state = await jobs.find(id, signal)
      if (state === undefined) return words
      words = `Ray: ${gistOf(state.message)}`
      if (state.hasEnded) return words
      await delay(POLL_MS, undefined, { signal })
    }
  } catch (error) {
    // Where Ray cannot be asked, the node's own deadline is waited for.
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return words === '' ? messageOf(error) : words
  }
}

/** What a message of Ray or an output says in its first line and in its last one, which has the point of an output. */
function gistOf(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const words = lines.filter((line) => line !== '' && !LISTENS.test(line))
  const [first = '', last = ''] = [words.at(0), words.length > 1 ? words.at(-1) : '']
  return [first.replace(/, last available logs.*$/, ''), last]
    .filter((line) => line !== '')
    .map((line) => line.slice(0, LINE_CHARS_MAX))
    .join(': ')
}
