import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import { isoIn, nowAfter } from '../time.ts'
import { cancelJob } from './cancel-job.ts'
import { placesInTurn } from './groups-in-turn.ts'
import type { JobKind, NewJob } from './job-kind.ts'
import * as queries from './queries.ts'
import { type Join, replaceWaiting } from './replace-waiting.ts'
import type { RunningJobs } from './running-jobs.ts'

/** The jobs of one kind. */
export interface JobsOfKind<Payload> {
  /** Adds jobs; one that waits or runs under the same id stays as it is. */
  add(jobs: readonly NewJob<Payload>[]): Promise<void>
  /** Adds jobs within a transaction; after its commit, {@link JobsOfKind.wake} starts them without delay. */
  addIn(tx: ControlTx, jobs: readonly NewJob<Payload>[]): Promise<void>
  /** Adds a job unless one waits under its singleton key, which then becomes due as soon as this one would. */
  addOnceIn(tx: ControlTx, job: NewJob<Payload> & { singletonKey: string }): Promise<void>
  /** The same as `addIn` for jobs of which each takes the place of the one that waits under its singleton key. */
  replaceIn(tx: ControlTx, jobs: readonly NewJob<Payload>[], join: Join<Payload>): Promise<void>
  wake(): void
  /** Removes jobs that wait, as if they had been done. */
  removeWaiting(ids: readonly string[]): Promise<void>
  /** Makes a waiting job due now. */
  makeDue(id: string): Promise<void>
  /**
   * Ends a job early. One that waits has ended when this resolves; the handler of one that runs is aborted, at once on
   * this server and as soon as another hears of it, at the latest with its next heartbeat.
   * @returns false for a job that has ended or does not exist.
   */
  cancel(id: string, reason: string): Promise<boolean>
  /** How many have not ended, of each of the groups that have any. */
  countOpenOf(groups: readonly string[]): Promise<Map<string, number>>
  /** The same of an entity, or of a key. */
  countOpenBy(by: 'entity' | 'key_id', name: string, tx?: ControlTx): Promise<number>
  /** The payloads of jobs; one that is not there any more is left out. */
  payloadsOf(ids: readonly string[]): Promise<Map<string, Payload>>
  /** What the handlers of jobs that run last reported. */
  progressOf(ids: readonly string[]): Promise<Map<string, unknown>>
  /** The place of each waiting job of a concurrency key, from 1, where groups take turns. */
  places(concurrencyKey: string): Promise<Map<string, number>>
}

export interface JobsOfKindDeps {
  control: ControlDb
  running: RunningJobs
  peers: Pick<Peers, 'send'>
  /** This server's name in leases. */
  owner: string
  /** How long a lease outlives its last heartbeat, in milliseconds. */
  leaseMs: number
  /** Makes the worker check for due jobs. */
  wake: () => void
}

export function createJobsOfKind<Payload>(
  deps: JobsOfKindDeps,
  declared: JobKind<Payload>,
): JobsOfKind<Payload> {
  const { control, wake } = deps
  const { kind } = declared

  async function addIn(tx: ControlTx, jobs: readonly NewJob<Payload>[]): Promise<void> {
    const rows = jobs.map((job) => rowOf(declared, job))
    const groups = [...new Set(jobs.flatMap(({ group }) => group ?? []))]
    if (groups.length > 0) {
      // The jobs of a group run in this order, and the clock of the server that added the last one may be ahead.
      const last = await queries.lastAdded(tx, { kind, groups })
      for (const row of rows) if (row.group_key != null) row.created_at = nowAfter([last.get(row.group_key)])
    }
    await queries.insertJobs(tx, rows)
  }

  return {
    addIn,
    wake,
    async add(jobs) {
      await control.transaction().execute((tx) => addIn(tx, jobs))
      wake()
    },
    addOnceIn: (tx, job) => queries.insertOnce(tx, rowOf(declared, job)),
    replaceIn: async (tx, jobs, join) => addIn(tx, await replaceWaiting(tx, declared, { jobs, join })),
    removeWaiting: (ids) => queries.removeWaiting(control, { kind, ids }),
    async makeDue(id) {
      await queries.makeDue(control, { kind, ids: [id] })
      wake()
    },
    cancel: (id, reason) => cancelJob(deps, { kind, id, reason }),
    countOpenOf: (groups) => queries.countOpenOf(control, { kind, groups }),
    countOpenBy: (by, name, tx = control) => queries.countOpenBy(tx, { kind, by, name }),
    async payloadsOf(ids) {
      const payloads = await queries.payloadsOf(control, { kind, ids })
      return new Map([...payloads].map(([id, text]) => [id, declared.payload.parse(JSON.parse(text))]))
    },
    async progressOf(ids) {
      const reports = await queries.progressOf(control, { kind, ids })
      return new Map([...reports].map(([id, report]) => [id, JSON.parse(report)]))
    },
    places: (concurrencyKey) => placesInTurn(control, { kind, concurrencyKey }),
  }
}

function rowOf<Payload>(kind: JobKind<Payload>, job: NewJob<Payload>): queries.NewJobRow {
  const now = isoIn(0)
  return {
    kind: kind.kind,
    id: job.id,
    state: 'waiting',
    payload: JSON.stringify(job.payload),
    entity: job.entity ?? '',
    key_id: job.keyId ?? '',
    singleton_key: job.singletonKey ?? null,
    group_key: job.group ?? null,
    concurrency_key: job.concurrencyKey ?? null,
    run_at: job.runAt ?? now,
    attempts: 0,
    attempts_max: kind.attemptsMax,
    created_at: now,
  }
}
