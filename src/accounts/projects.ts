import { LRUCache } from 'lru-cache'
import type { ControlDb } from '../stores/control-db/port.ts'
import { nowIso } from '../time.ts'
import { type ProjectName, parseProjectId } from './project-name.ts'
import * as queries from './queries.ts'

/** Projects that are remembered to exist; one that is forgotten costs a statement. */
const SEEN_MAX = 10_000

/** Which projects exist. A project is created by its first use. */
export interface Projects {
  exists(project: ProjectName): Promise<boolean>
  /** Creates a project unless it exists. */
  ensure(project: ProjectName): Promise<void>
  /** The same for the project of a wire id. @throws 400 when it is not `entity/project`. */
  ensureById(projectId: string): Promise<void>
  /** When a project was first used; null for one that never was. */
  createdAt(project: ProjectName): Promise<string | null>
  /** The newest projects of the entities. */
  newest(
    limit: number,
    entities: 'all' | readonly string[],
  ): Promise<(ProjectName & { created_at: string })[]>
  /** Projects of an entity by name, one page. */
  list(page: { entity: string; after: string; limit: number }): Promise<ProjectName[]>
}

export function createProjects({ control }: { control: ControlDb }): Projects {
  // Every write asks whether its project exists. Projects are never renamed, so the answer is remembered.
  const seen = new LRUCache<string, true>({ max: SEEN_MAX })

  async function ensure({ entity, name }: ProjectName): Promise<void> {
    const id = `${entity}/${name}`
    if (seen.has(id)) return
    await queries.insertProject(control, { entity, name, created_at: nowIso() })
    seen.set(id, true)
  }

  return {
    exists: async (project) => (await queries.findCreatedAt(control, project)) !== undefined,
    ensure,
    async ensureById(projectId) {
      if (!seen.has(projectId)) await ensure(parseProjectId(projectId))
    },
    createdAt: async (project) => (await queries.findCreatedAt(control, project)) ?? null,
    newest: (limit, entities) => queries.listNewest(control, { limit, entities }),
    list: (page) => queries.listProjects(control, page),
  }
}
