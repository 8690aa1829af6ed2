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
  const waiting = await queries.waitingJobs(control, kind)
  if (waiting.length === 0) return []
  const now = isoIn(0)
  const turns = await queries.groupTurns(control, kind)
  const taken = new Set(turns.active)
  const busy = new Set(running.map((row) => row.concurrency_key))
  const ids: string[] = []
  for (const job of fairOrder(waiting, turns.lastStarted)) {
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
  const waiting = (await queries.waitingJobs(control, kind)).filter(
    (job) => job.concurrency_key === concurrencyKey,
  )
  const { lastStarted } = await queries.groupTurns(control, kind)
  return new Map(fairOrder(waiting, lastStarted).map((job, index) => [job.id, index + 1]))
}
