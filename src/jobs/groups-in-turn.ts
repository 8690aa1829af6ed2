import type { ControlDb } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'
import { fairOrder } from './fair-order.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'

/**
 * Ids of waiting jobs that may run now, where entities and their groups take turns: of each group the first job, unless
 * another of the group runs on any server, and of each concurrency key one, unless it is busy here. With `ending`,
 * those that are to be given up.
 * @param wanted.startedHere when a job of each entity last started on this server: the rows of those that are done may
 * be gone
 */
export async function idsInTurn(
  control: ControlDb,
  { kind, running, ending, startedHere }: GroupsRequest,
): Promise<string[]> {
  // One read has both: between two, a job that runs may be put back, and the next of its group would pass it.
  const { waiting, active } = await openJobs(control, kind)
  if (waiting.length === 0) return []
  const now = isoIn(0)
  const taken = new Set(active.map((job) => job.group_key))
  const busy = new Set(running.map((row) => row.concurrency_key))
  const ids: string[] = []
  const { groups, entities } = await queries.lastStarted(control, kind)
  for (const [entity, startedAt] of startedHere)
    if (startedAt > (entities.get(entity) ?? '')) entities.set(entity, startedAt)
  for (const job of fairOrder(waiting, { groups, entities })) {
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

interface GroupsRequest {
  kind: string
  /** Jobs of the kind that run on this server. */
  running: readonly JobRow[]
  ending: boolean
  startedHere: Iterable<readonly [entity: string, startedAt: string]>
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
