import type { Log } from '../log.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { urgently } from '../stores/control-db/urgent-writes.ts'
import type { DefinedKind } from './defined-kind.ts'
import { JobCancelled, LeaseLost } from './job-kind.ts'
import * as leaseQueries from './lease-queries.ts'
import { createPause } from './pause.ts'
import type { JobRow } from './queries.ts'
import { nameOf, type RunningJobs } from './running-jobs.ts'

/** Heartbeats during one lease: some may be late or fail before the lease is lost. */
const HEARTBEATS_PER_LEASE = 6

const SERVER_ENDED = 'The server ended during this job'

/** Expired leases that are looked at together. */
const EXPIRED_MAX = 100

export interface LeasesDeps {
  control: ControlDb
  log: Log
  kinds: ReadonlyMap<string, DefinedKind>
  running: RunningJobs
  peers: Pick<Peers, 'onMessage'>
  /** How long a lease outlives its last heartbeat, in milliseconds. */
  leaseMs: number
}

/**
 * Makes the jobs wait again whose attempts have ended with their server, or never began: the database may have taken a
 * job for a server without the server learning of it.
 */
export async function returnExpired({ control, log, kinds, running }: LeasesDeps): Promise<void> {
  const except = tokensOf(running.rows())
  for (const row of await leaseQueries.expiredLeases(control, { except, limit: EXPIRED_MAX })) {
    const kind = kinds.get(row.kind)
    if (kind === undefined) continue
    await control.transaction().execute(async (tx) => {
      const { interruptionsMax } = kind
      if (!(await leaseQueries.returnExpired(tx, row, { last_error: SERVER_ENDED, interruptionsMax }))) return
      const cause = { why: 'interrupted' as const, reason: SERVER_ENDED, attempts: row.attempts }
      await kind.requeued(tx, row.id, cause)
      log.warn({ kind: row.kind, job: row.id, attempt: row.attempts }, 'the server ended during a job')
    })
  }
}

/**
 * Extends this server's leases from time to time and when another server has cancelled a job, and aborts attempts that
 * were cancelled or have lost their lease.
 */
export function startHeartbeat(deps: LeasesDeps): Disposable {
  const { control, log, running, peers, leaseMs } = deps

  async function beat(): Promise<void> {
    const before = running.rows()
    if (before.length === 0) return
    const tokens = tokensOf(before)
    const held = await urgently(() => leaseQueries.extendLeases(control, { tokens, leaseMs }))
    const byName = new Map(held.map((row) => [nameOf(row), row]))
    for (const row of before) {
      const now = byName.get(nameOf(row))
      if (now === undefined) running.abortAttempt(row, new LeaseLost('The lease of the job was lost'))
      else if (now.cancel_reason !== null) running.abortAttempt(row, new JobCancelled(now.cancel_reason))
    }
  }

  const pause = createPause()
  let isStopped = false

  async function loop(): Promise<void> {
    while (!isStopped) {
      await beat().catch((error: unknown) =>
        log.error({ err: error }, 'leases of jobs could not be extended'),
      )
      await pause.wait(leaseMs / HEARTBEATS_PER_LEASE)
    }
  }

  peers.onMessage('cancelled', pause.wake)
  void loop()
  return {
    [Symbol.dispose]() {
      isStopped = true
      pause.wake()
    },
  }
}

/** One token is that of all jobs that were taken together. */
function tokensOf(rows: readonly JobRow[]): string[] {
  return [...new Set(rows.flatMap(({ lease_token }) => lease_token ?? []))]
}
