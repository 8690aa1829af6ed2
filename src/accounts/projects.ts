import { LRUCache } from 'lru-cache'
import type { Place } from '../access.ts'
import { notAllFound } from '../errors.ts'
import { entityOf } from '../fairness/fair-queue.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import { nowIso } from '../time.ts'
import { type MadeProject, type ProjectName, type ProjectSelection, parseProjectId } from './project-name.ts'
import * as queries from './queries.ts'

/** Projects that are remembered to exist; one that is forgotten costs a statement. */
const SEEN_MAX = 10_000

/** Which projects exist. A project is created by its first use. */
export interface Projects {
  exists(project: ProjectName): Promise<boolean>
  /** Creates a project unless it exists. @throws 404 for one that is being erased. */
  ensure(project: ProjectName): Promise<void>
  /** The same for the project of a wire id. @throws 400 when it is not `entity/project`. */
  ensureById(projectId: string): Promise<void>
  /** When a project was first used; null for one that never was. */
  createdAt(project: ProjectName): Promise<string | null>
  /** The newest projects of a selection. */
  newest(limit: number, selection: ProjectSelection): Promise<MadeProject[]>
  /** Those of the projects that exist, in no order. */
  made(projectIds: readonly string[]): Promise<MadeProject[]>
  /** Projects of an entity by name, one page. */
  list(page: { entity: string; after: string; limit: number }): Promise<ProjectName[]>
  /** The ids of all projects of an entity. */
  idsOf(tx: ControlTx, entity: string): Promise<string[]>
  /** Deletes the rows of projects. @returns how many there were */
  delete(tx: ControlTx, projectIds: readonly string[]): Promise<number>
  /**
   * Forgets which projects exist: another server may have begun and ended an erasure of which this one did not hear.
   */
  forget(): void
  /** Projects, and whole entities, that are being erased: nothing in them is read or written meanwhile. */
  closed: ClosedPlaces
}

export interface ClosedPlaces {
  /** Closes the places of one erasure. */
  close(erasure: string, places: readonly Place[]): void
  /** Projects come into being again by their next use. */
  reopen(erasure: string): void
  /** The erasures that have closed places. */
  erasures(): string[]
  has(place: Place): boolean
  /** @throws 404 for a place that is closed. */
  check(place: Place): void
  isAny(): boolean
}

export function createProjects({ control }: { control: ControlDb }): Projects {
  // Every write asks whether its project exists. Projects are never renamed, so the answer is remembered.
  const seen = new LRUCache<string, true>({ max: SEEN_MAX })
  /** How often that was forgotten. */
  let forgotten = 0

  const closed = createClosedPlaces((ids) => {
    const isClosed = new Set(ids)
    for (const id of seen.keys()) if (isClosed.has(id) || isClosed.has(entityOf(id))) seen.delete(id)
  })

  async function ensure({ entity, name }: ProjectName): Promise<void> {
    const id = `${entity}/${name}`
    closed.check({ entity, project: name })
    if (seen.has(id)) return
    const begunAt = forgotten
    await queries.insertProject(control, { entity, name, created_at: nowIso() })
    // An erasure that began meanwhile removes the row, and nothing may be written after it.
    closed.check({ entity, project: name })
    // What was read before it was forgotten may not be true after it.
    if (begunAt === forgotten) seen.set(id, true)
  }

  return {
    exists: async (project) => (await queries.findCreatedAt(control, project)) !== undefined,
    ensure,
    async ensureById(projectId) {
      if (!seen.has(projectId) || closed.isAny()) await ensure(parseProjectId(projectId))
    },
    createdAt: async (project) => (await queries.findCreatedAt(control, project)) ?? null,
    newest: (limit, selection) => queries.listNewest(control, { ...selection, limit }),
    made: (projectIds) => queries.readProjects(control, projectIds),
    list: (page) => queries.listProjects(control, page),
    idsOf: queries.projectIdsOf,
    delete: (tx, projectIds) => queries.deleteProjects(tx, projectIds),
    forget() {
      forgotten++
      seen.clear()
    },
    closed,
  }
}

function createClosedPlaces(onClose: (ids: readonly string[]) => void): ClosedPlaces {
  const byErasure = new Map<string, readonly string[]>()
  /** Two erasures may close the same place. */
  let closed: ReadonlySet<string> = new Set()

  function changed(): void {
    closed = new Set([...byErasure.values()].flat())
  }

  function has(place: Place): boolean {
    return closed.size > 0 && (closed.has(place.entity) || closed.has(idOf(place)))
  }

  return {
    close(erasure, places) {
      byErasure.set(erasure, places.map(idOf))
      changed()
      onClose(places.map(idOf))
    },
    reopen(erasure) {
      byErasure.delete(erasure)
      changed()
    },
    erasures: () => [...byErasure.keys()],
    has,
    check(place) {
      if (has(place)) throw notAllFound(`${idOf(place)} is being deleted`)
    },
    isAny: () => closed.size > 0,
  }
}

function idOf({ entity, project }: Place): string {
  return project === undefined ? entity : `${entity}/${project}`
}
