import { newId } from '../ids.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { JobCancelled } from './job-kind.ts'
import * as leaseQueries from './lease-queries.ts'
import * as queries from './queries.ts'
import type { RunningJobs } from './running-jobs.ts'

interface CancelDeps {
  control: ControlDb
  running: RunningJobs
  peers: Pick<Peers, 'send'>
  owner: string
  leaseMs: number
}

/**
 * Ends a job early. A waiting one is taken here and given up at once, whether or not there is a free slot for it.
 * @returns false for a job that has ended or does not exist.
 */
export async function cancelJob(
  { control, running, peers, owner, leaseMs }: CancelDeps,
  job: { kind: string; id: string; reason: string },
): Promise<boolean> {
  const { kind, id, reason } = job
  const state = await queries.requestCancel(control, job)
  if (state === undefined) return false
  const isHere = running.abort({ kind, id }, new JobCancelled(reason))
  if (state === 'active') {
    if (!isHere) peers.send('cancelled', '')
    return true
  }
  const taken = await leaseQueries.takeToEnd(control, { kind, id, owner, token: newId(), leaseMs })
  if (taken !== undefined) await running.run(taken)
  return true
}
