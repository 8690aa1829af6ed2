import type { Log } from '../log.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { Telemetry } from '../telemetry.ts'
import { runAttempt } from './attempt.ts'
import type { DefinedKind } from './defined-kind.ts'
import { type JobCancelled, type LeaseLost, ServerStopping, TurnEnded } from './job-kind.ts'
import type { JobRow } from './queries.ts'

type JobName = Pick<JobRow, 'kind' | 'id'>

type AttemptName = Pick<JobRow, 'kind' | 'id' | 'lease_token'>

/** The attempts that run on this server. */
export interface RunningJobs extends AsyncDisposable {
  /** Runs an attempt at a job that was taken; resolves when what it came to is recorded. */
  run(row: JobRow): Promise<void>
  /** The rows as they were when they were taken. */
  rows(): JobRow[]
  /** Asks an attempt to end, because others wait for its place. */
  endTurn(attempt: AttemptName): void
  /** Whether an attempt was asked to. */
  isEnding(attempt: AttemptName): boolean
  /** Aborts all attempts at a job. @returns whether one runs here */
  abort(job: JobName, reason: JobCancelled | LeaseLost): boolean
  /**
   * Aborts one attempt, unless it has ended: another one at the same job may have begun here since its lease was lost.
   */
  abortAttempt(attempt: AttemptName, reason: JobCancelled | LeaseLost): void
}

export interface RunningJobsDeps {
  control: ControlDb
  log: Log
  telemetry: Telemetry
  kinds: ReadonlyMap<string, DefinedKind>
  /** Called when an attempt has ended. */
  onEnded: () => void
}

export function createRunningJobs({ kinds, onEnded, ...deps }: RunningJobsDeps): RunningJobs {
  const stopping = new AbortController()
  const running = new Map<
    string,
    { row: JobRow; abort: AbortController; turn: AbortController; ended: Promise<void> }
  >()

  function run(row: JobRow): Promise<void> {
    const kind = kinds.get(row.kind)
    if (kind === undefined) throw new Error(`No handler for jobs of the kind ${row.kind}`)
    const abort = new AbortController()
    const turn = new AbortController()
    if (stopping.signal.aborted) abort.abort(stopping.signal.reason)
    const signals = { abort: abort.signal, turn: turn.signal, stopping: stopping.signal }
    const ended = runAttempt(deps, { kind, row }, signals).finally(() => {
      running.delete(nameOf(row))
      onEnded()
    })
    running.set(nameOf(row), { row, abort, turn, ended })
    return ended
  }

  return {
    run,
    rows: () => [...running.values()].map(({ row }) => row),
    endTurn: (attempt) => running.get(nameOf(attempt))?.turn.abort(new TurnEnded('Others have their turn')),
    isEnding: (attempt) => running.get(nameOf(attempt))?.turn.signal.aborted ?? false,
    abort({ kind, id }, reason) {
      const found = [...running.values()].filter(({ row }) => row.kind === kind && row.id === id)
      for (const { abort } of found) abort.abort(reason)
      return found.length > 0
    },
    abortAttempt: (attempt, reason) => running.get(nameOf(attempt))?.abort.abort(reason),

    /** Interrupts every attempt, gives the leases back, and resolves when that is recorded. */
    async [Symbol.asyncDispose]() {
      stopping.abort(new ServerStopping('The server is stopping'))
      for (const { abort } of running.values()) abort.abort(stopping.signal.reason)
      await Promise.allSettled([...running.values()].map(({ ended }) => ended))
    },
  }
}

/** Of an attempt: no two have one. */
export function nameOf({ kind, id, lease_token }: AttemptName): string {
  return `${kind}/${id}/${lease_token}`
}
