import { LRUCache } from 'lru-cache'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { JobRow } from './queries.ts'
import * as queries from './queries.ts'

/** What is looked for: due jobs of a kind, for places that are free on this server. */
export interface DueRequest {
  kind: string
  /** Jobs of the kind that run on this server. */
  running: readonly JobRow[]
  limit: number
  /** Places that one entity may have here. */
  entityPlaces: number
  /** Only jobs whose next attempt gives them up. */
  ending: boolean
}

/** Entities whose last places are remembered, of all kinds together; one that is forgotten is served as a new one. */
const ENTITIES_MAX = 10_000

/** An entity with due jobs. */
interface Line {
  entity: string
  /** Jobs of it that run on this server. */
  places: number
  /** When it was last given a place here, as a number that rises; 0 for never. */
  lastAt: number
}

/**
 * Finds the ids of due jobs where those that have been due longest go first: of each entity in its own order, and each
 * place to the entity that has the fewest; of equals, to the one that was given one longest ago. So one with a thousand jobs
 * delays the first of another by no more than the jobs that run, and by none where an entity may have some of the places only.
 */
export function createDueInTurn(control: ControlDb): (request: DueRequest) => Promise<string[]> {
  /** By kind and entity. */
  const lastAt = new LRUCache<string, number>({ max: ENTITIES_MAX })
  let placesGiven = 0
  const nameOf = (kind: string, entity: string): string => `${kind} ${entity}`

  return async ({ kind, running, limit, entityPlaces, ending }) => {
    const entities = await queries.dueEntities(control, kind)
    const lines = entities
      .map((entity) => ({
        entity,
        places: running.filter((row) => row.entity === entity).length,
        lastAt: lastAt.get(nameOf(kind, entity)) ?? 0,
      }))
      .filter(({ places }) => places < entityPlaces)
      .toSorted(inTurn)
    // No more have to be asked than have due jobs for all places: each of them comes before all others.
    const due: (Line & { ids: string[] })[] = []
    for (let from = 0; from < lines.length && due.length < limit; from += limit) {
      const asked = lines.slice(from, from + limit).map(async (line) => {
        const places = Math.min(limit, entityPlaces - line.places)
        const ids = await queries.dueIds(control, { kind, entity: line.entity, limit: places, ending })
        return { ...line, ids }
      })
      due.push(...(await Promise.all(asked)).filter(({ ids }) => ids.length > 0))
    }
    const chosen: string[] = []
    while (chosen.length < limit) {
      const [first] = due.filter(({ ids }) => ids.length > 0).toSorted(inTurn)
      const id = first?.ids.shift()
      if (first === undefined || id === undefined) break
      first.places++
      first.lastAt = ++placesGiven
      lastAt.set(nameOf(kind, first.entity), first.lastAt)
      chosen.push(id)
    }
    return chosen
  }
}

function inTurn(one: Line, other: Line): number {
  return one.places - other.places || one.lastAt - other.lastAt
}
