import type { ControlTx } from '../stores/control-db/port.ts'
import type { JobKind, NewJob } from './job-kind.ts'
import * as queries from './queries.ts'

/**
 * Of jobs that are added under a singleton key, those to insert: each takes the place of the one that waits under its
 * key, with the id and payload that `join` makes of both. Where `join` returns undefined, the waiting one is complete
 * and becomes due.
 */
export async function replaceWaiting<Payload>(
  tx: ControlTx,
  { kind, payload }: Pick<JobKind<Payload>, 'kind' | 'payload'>,
  { jobs, join }: { jobs: readonly NewJob<Payload>[]; join: Join<Payload> },
): Promise<NewJob<Payload>[]> {
  const keys = jobs.flatMap(({ singletonKey }) => singletonKey ?? [])
  if (keys.length === 0) return [...jobs]
  const waiting = await queries.waitingUnder(tx, { kind, keys })
  const byKey = new Map(waiting.map((row) => [row.singleton_key, row]))
  const complete: string[] = []
  const replaced: string[] = []
  const next = jobs.map((job) => {
    const before = byKey.get(job.singletonKey ?? '')
    if (before === undefined) return job
    const joined = join({ id: before.id, payload: payload.parse(JSON.parse(before.payload)) }, job)
    if (joined === undefined) complete.push(before.id)
    else replaced.push(before.id)
    return joined === undefined ? job : { ...job, id: joined.id, payload: joined.payload }
  })
  await queries.removeWaiting(tx, { kind, ids: replaced })
  await queries.makeDue(tx, { kind, ids: complete })
  return next
}

export type Join<Payload> = (
  waiting: Joinable<Payload>,
  next: Joinable<Payload>,
) => Joinable<Payload> | undefined

export type Joinable<Payload> = Pick<NewJob<Payload>, 'id' | 'payload'>
