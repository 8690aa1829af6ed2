import type { ControlDb } from '../stores/control-db/port.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'

/**
 * Ids of due jobs where those that have been due longest go first: of each entity in its own order, and each place to the
 * entity that has the fewest, so that one with a thousand jobs does not delay the first of another.
 * @param running of the same kind on this server
 */
export async function dueInTurn(
  control: ControlDb,
  {
    kind,
    running,
    limit,
    ending,
  }: { kind: string; running: readonly JobRow[]; limit: number; ending: boolean },
): Promise<string[]> {
  const entities = await queries.waitingEntities(control, kind)
  const lines = await Promise.all(
    entities.map(async (entity) => ({
      ids: await queries.dueIds(control, { kind, entity, limit, ending }),
      places: running.filter((row) => row.entity === entity).length,
    })),
  )
  const chosen: string[] = []
  while (chosen.length < limit) {
    const waiting = lines.filter(({ ids }) => ids.length > 0)
    const [first] = waiting.toSorted((one, other) => one.places - other.places)
    const id = first?.ids.shift()
    if (first === undefined || id === undefined) break
    first.places++
    chosen.push(id)
  }
  return chosen
}
