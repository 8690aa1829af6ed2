import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'
import type { JobRow } from './queries.ts'

/** A job and the token under which it was taken. */
export type Lease = Pick<JobRow, 'kind' | 'id' | 'lease_token'>

const NO_LEASE = {
  lease_owner: null,
  lease_token: null,
  leased_until: null,
  heartbeat_at: null,
  progress: null,
}

/** Takes those of the jobs that still wait, and counts the attempt. */
export function takeJobs(
  control: ControlDb,
  { kind, ids, owner, token, leaseMs }: TakenBy & { ids: readonly string[] },
): Promise<JobRow[]> {
  return control
    .updateTable('jobs')
    .set((eb) => ({
      ...leaseOf({ owner, token, leaseMs }),
      started_at: isoIn(0),
      attempts: eb('attempts', '+', 1),
    }))
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .where('state', '=', 'waiting')
    .returningAll()
    .execute()
}

interface TakenBy {
  kind: string
  owner: string
  token: string
  leaseMs: number
}

/** Takes a job that still waits, to end it without an attempt. */
export function takeToEnd(
  control: ControlDb,
  { kind, id, owner, token, leaseMs }: TakenBy & { id: string },
): Promise<JobRow | undefined> {
  return control
    .updateTable('jobs')
    .set(leaseOf({ owner, token, leaseMs }))
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .returningAll()
    .executeTakeFirst()
}

function leaseOf({ owner, token, leaseMs }: Omit<TakenBy, 'kind'>) {
  return {
    state: 'active' as const,
    singleton_key: null,
    lease_owner: owner,
    lease_token: token,
    leased_until: isoIn(leaseMs),
    heartbeat_at: isoIn(0),
  }
}

/** Extends leases; resolves with the jobs of those that still hold. */
export function extendLeases(
  control: ControlDb,
  { tokens, leaseMs }: { tokens: readonly string[]; leaseMs: number },
): Promise<Pick<JobRow, 'kind' | 'id' | 'lease_token' | 'cancel_reason'>[]> {
  return control
    .updateTable('jobs')
    .set({ leased_until: isoIn(leaseMs), heartbeat_at: isoIn(0) })
    .where('state', '=', 'active')
    .where('lease_token', 'in', tokens)
    .returning(['kind', 'id', 'lease_token', 'cancel_reason'])
    .execute()
}

/** Ends all leases of other servers, none of which runs any more. */
export async function expireLeases(control: ControlDb, owner: string): Promise<void> {
  await control
    .updateTable('jobs')
    .set({ leased_until: '' })
    .where('state', '=', 'active')
    .where('lease_owner', '!=', owner)
    .execute()
}

/** Jobs whose lease has expired, but for those of some tokens. */
export function expiredLeases(
  control: ControlDb,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<JobRow[]> {
  return control
    .selectFrom('jobs')
    .selectAll()
    .where('state', '=', 'active')
    .where('leased_until', '<', isoIn(0))
    .$if(except.length > 0, (jobs) => jobs.where('lease_token', 'not in', except))
    .orderBy('leased_until')
    .limit(limit)
    .execute()
}

/**
 * Makes a job wait again whose lease has expired, and counts the interruption, which was its last attempt if it was the
 * last allowed; false when its lease was extended or another server was first.
 */
export async function returnExpired(
  tx: ControlTx,
  lease: Lease,
  { last_error, interruptionsMax }: { last_error: string; interruptionsMax: number },
): Promise<boolean> {
  const returned = await held(tx, lease)
    .set((eb) => ({
      ...NO_LEASE,
      state: 'waiting' as const,
      run_at: isoIn(0),
      last_error,
      interruptions: eb('interruptions', '+', 1),
      attempts: eb
        .case()
        .when('interruptions', '>=', interruptionsMax - 1)
        .then(eb.ref('attempts_max'))
        .else(eb.ref('attempts'))
        .end(),
    }))
    .where('leased_until', '<', isoIn(0))
    .returning('id')
    .executeTakeFirst()
  return returned !== undefined
}

/** Makes a job wait for its next attempt; false when the lease was lost. */
export async function releaseJob(
  control: ControlTx,
  lease: Lease,
  next: Pick<JobRow, 'run_at' | 'attempts' | 'last_error'>,
): Promise<boolean> {
  const released = await held(control, lease)
    .set({ ...NO_LEASE, ...next, state: 'waiting' })
    .returning('id')
    .executeTakeFirst()
  return released !== undefined
}

/** Ends a job, unless the lease was lost. */
export async function finishJob(
  control: ControlDb,
  lease: Lease,
  end: Pick<JobRow, 'state' | 'last_error'>,
): Promise<void> {
  await held(control, lease)
    .set({ ...NO_LEASE, ...end, finished_at: isoIn(0) })
    .execute()
}

/** Removes a job that is done, unless the lease was lost. */
export async function removeJob(control: ControlDb, { kind, id, lease_token }: Lease): Promise<void> {
  await control
    .deleteFrom('jobs')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('state', '=', 'active')
    .where('lease_token', '=', lease_token)
    .execute()
}

/** Whether the lease holds, and holds until the transaction ends: other servers wait for the row. */
export async function touchLease(tx: ControlTx, lease: Lease): Promise<boolean> {
  const touched = await held(tx, lease)
    .set({ heartbeat_at: isoIn(0) })
    .returning('id')
    .executeTakeFirst()
  return touched !== undefined
}

export async function setProgress(control: ControlDb, lease: Lease, progress: string): Promise<void> {
  await held(control, lease).set({ progress }).execute()
}

/** Counts the attempt as the first, as if none had been interrupted before. */
export async function countAnew(tx: ControlTx, lease: Lease): Promise<void> {
  await held(tx, lease).set({ attempts: 1, interruptions: 0 }).execute()
}

function held(tx: ControlTx, { kind, id, lease_token }: Lease) {
  return tx
    .updateTable('jobs')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('state', '=', 'active')
    .where('lease_token', '=', lease_token)
}
