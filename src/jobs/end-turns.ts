import type { ControlDb } from '../stores/control-db/port.ts'
import type { DefinedKind } from './defined-kind.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'
import type { RunningJobs } from './running-jobs.ts'

/**
 * Where all slots of a kind are taken here and entities with fewer of them have due jobs, asks as many attempts to end
 * whose turn is over: those that began first, of the entities with the most slots.
 * @returns milliseconds until another turn will be over that is waited for
 */
export async function endTurns(
  { control, running }: { control: ControlDb; running: Pick<RunningJobs, 'rows' | 'endTurn' | 'isEnding'> },
  { kind, concurrency, turnMs }: Pick<DefinedKind, 'kind' | 'concurrency' | 'turnMs'>,
): Promise<number> {
  const own = running.rows().filter((row) => row.kind === kind)
  if (turnMs === Number.POSITIVE_INFINITY || own.length < concurrency) return Number.POSITIVE_INFINITY
  const going = own.filter((row) => !running.isEnding(row))
  const slots = new Map<string, number>()
  for (const { entity } of going) slots.set(entity, slotsOf(slots, entity) + 1)
  const waiting = await queries.dueEntities(control, kind)
  const bySlots = waiting.toSorted((one, other) => slotsOf(slots, one) - slotsOf(slots, other))
  let idleMs = Number.POSITIVE_INFINITY
  // The first ones get the slots of those that are ending.
  for (const entity of bySlots.slice(own.length - going.length)) {
    const most = Math.max(...slots.values())
    if (most <= slotsOf(slots, entity)) break
    const longest = going
      .filter((row) => slotsOf(slots, row.entity) === most && !running.isEnding(row))
      .toSorted(byStart)
    const leftMs = (row: JobRow): number => Date.parse(row.started_at ?? '') + turnMs - Date.now()
    const over = longest.find((row) => leftMs(row) <= 0)
    if (over === undefined) {
      idleMs = Math.min(idleMs, ...longest.map((row) => leftMs(row) + 1))
      continue
    }
    running.endTurn(over)
    slots.set(over.entity, slotsOf(slots, over.entity) - 1)
    slots.set(entity, slotsOf(slots, entity) + 1)
  }
  return idleMs
}

function slotsOf(slots: ReadonlyMap<string, number>, entity: string): number {
  return slots.get(entity) ?? 0
}

function byStart(one: JobRow, other: JobRow): number {
  return (one.started_at ?? '') < (other.started_at ?? '') ? -1 : 1
}
