import type { ControlDb } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'
import { fairOrder } from './fair-order.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'

/**
 * Ids of waiting jobs that may run now, where entities and their groups take turns: of each group the first job, unless another of the group
 * runs on any server, and of each concurrency key one, unless it is busy here. With `ending`, those that are to be given up.
 */
export async function idsInTurn(
  control: ControlDb,
  { kind, running, ending }: { kind: string; running: readonly JobRow[]; ending: boolean },
): Promise<string[]> {
  // One read has both: between two, a job that runs may be put back, and the next of its group would pass it.
  const { waiting, active } = await openJobs(control, kind)
  if (waiting.length === 0) return []
  const now = isoIn(0)
  const taken = new Set(active.map((job) => job.group_key))
  const busy = new Set(running.map((row) => row.concurrency_key))
  const ids: string[] = []
  for (const job of fairOrder(waiting, await queries.lastStarted(control, kind))) {
    const isFirst = job.group_key === null || !taken.has(job.group_key)
    if (job.group_key !== null) taken.add(job.group_key)
    const isFree = job.concurrency_key === null || !busy.has(job.concurrency_key)
    const isWanted = !ending || job.cancel_reason !== null || job.attempts >= job.attempts_max
    if (!isFirst || !isFree || !isWanted || job.run_at > now) continue
    busy.add(job.concurrency_key)
    ids.push(job.id)
  }
  return ids
}

/** The place of each waiting job among those of its concurrency key, from 1. */
export async function placesInTurn(
  control: ControlDb,
  { kind, concurrencyKey }: { kind: string; concurrencyKey: string },
): Promise<Map<string, number>> {
  const { waiting } = await openJobs(control, kind)
  const own = waiting.filter((job) => job.concurrency_key === concurrencyKey)
  const inOrder = fairOrder(own, await queries.lastStarted(control, kind))
  return new Map(inOrder.map((job, index) => [job.id, index + 1]))
}

async function openJobs(control: ControlDb, kind: string) {
  const open = await queries.openJobs(control, kind)
  return {
    waiting: open.filter(({ state }) => state === 'waiting'),
    active: open.filter(({ state }) => state === 'active'),
  }
}
