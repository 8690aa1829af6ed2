import { LRUCache } from 'lru-cache'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'

/** What is looked for: due jobs of a kind, for slots that are free on this server. */
export interface DueRequest {
  kind: string
  /** Jobs of the kind that run on this server. */
  running: readonly JobRow[]
  limit: number
  /** Slots that one entity may have here. */
  entitySlots: number
  /** Only jobs whose next attempt gives them up. */
  ending: boolean
}

/** Entities whose last slots are remembered, of all kinds together; one that is forgotten is served as a new one. */
const ENTITIES_MAX = 10_000

/** An entity with due jobs. */
interface EntityShare {
  entity: string
  /** Jobs of it that run on this server. */
  slots: number
  /** When it was last given a slot here, as a number that rises; 0 for never. */
  lastAt: number
}

/**
 * Finds the ids of due jobs where those that have been due longest go first: of each entity in its own order, and each
 * slot to the entity that has the fewest; of equals, to the one that was given one longest ago. So one with a thousand
 * jobs delays the first of another by no more than the jobs that run, and by none where an entity may have some of the
 * slots only.
 */
export function createDueInTurn(control: ControlDb): (request: DueRequest) => Promise<string[]> {
  /** By kind and entity. */
  const lastAt = new LRUCache<string, number>({ max: ENTITIES_MAX })
  let slotsGiven = 0
  const nameOf = (kind: string, entity: string): string => `${kind} ${entity}`

  return async ({ kind, running, limit, entitySlots, ending }) => {
    const entities = await queries.dueEntities(control, kind)
    const shares = entities
      .map((entity) => ({
        entity,
        slots: running.filter((row) => row.entity === entity).length,
        lastAt: lastAt.get(nameOf(kind, entity)) ?? 0,
      }))
      .filter(({ slots }) => slots < entitySlots)
      .toSorted(inTurn)
    // No more have to be asked than have due jobs for all slots: each of them comes before all others.
    const due: (EntityShare & { ids: string[] })[] = []
    for (let from = 0; from < shares.length && due.length < limit; from += limit) {
      const asked = shares.slice(from, from + limit).map(async (share) => {
        const slots = Math.min(limit, entitySlots - share.slots)
        const ids = await queries.dueIds(control, { kind, entity: share.entity, limit: slots, ending })
        return { ...share, ids }
      })
      due.push(...(await Promise.all(asked)).filter(({ ids }) => ids.length > 0))
    }
    const chosen: string[] = []
    while (chosen.length < limit) {
      const [first] = due.filter(({ ids }) => ids.length > 0).toSorted(inTurn)
      const id = first?.ids.shift()
      if (first === undefined || id === undefined) break
      first.slots++
      first.lastAt = ++slotsGiven
      lastAt.set(nameOf(kind, first.entity), first.lastAt)
      chosen.push(id)
    }
    return chosen
  }
}

function inTurn(one: EntityShare, other: EntityShare): number {
  return one.slots - other.slots || one.lastAt - other.lastAt
}
