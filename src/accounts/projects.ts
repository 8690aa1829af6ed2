import { LRUCache } from 'lru-cache'
import { invalidRequest } from '../errors.ts'
import type { ControlDb } from '../stores/control-db/tables.ts'
import { nowIso } from '../time.ts'

/** A project's two names, as the wire writes them: `entity/project`. */
export interface ProjectName {
  entity: string
  name: string
}

export type Projects = ReturnType<typeof createProjects>

/** Wire: entity and project names of the hosted services stay below this. */
const NAME_CHARS_MAX = 128

/** Projects that are remembered to exist; one that is forgotten costs a statement. */
const SEEN_MAX = 10_000

/** Which projects exist. Any project comes into being when it is first used. */
export function createProjects({ control }: { control: ControlDb }) {
  // Every write asks; projects are never renamed, so what was seen need not be asked again.
  const seen = new LRUCache<string, true>({ max: SEEN_MAX })

  async function exists({ entity, name }: ProjectName): Promise<boolean> {
    const row = await control
      .selectFrom('projects')
      .select('name')
      .where('entity', '=', entity)
      .where('name', '=', name)
      .executeTakeFirst()
    return row !== undefined
  }

  async function ensure({ entity, name }: ProjectName): Promise<void> {
    const id = `${entity}/${name}`
    if (seen.has(id)) return
    await control
      .insertInto('projects')
      .values({ entity, name, created_at: nowIso() })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    seen.set(id, true)
  }

  return {
    exists,
    ensure,

    /** When a project was first used; null for one that never was. */
    async createdAt({ entity, name }: ProjectName): Promise<string | null> {
      const row = await control
        .selectFrom('projects')
        .select('created_at')
        .where('entity', '=', entity)
        .where('name', '=', name)
        .executeTakeFirst()
      return row?.created_at ?? null
    },

    /** The newest projects of all entities. */
    newest(limit: number): Promise<(ProjectName & { created_at: string })[]> {
      return control
        .selectFrom('projects')
        .select(['entity', 'name', 'created_at'])
        .orderBy('created_at', 'desc')
        .limit(limit)
        .execute()
    },

    /** Projects of an entity by name, one page. */
    list(page: { entity: string; after: string; limit: number }): Promise<ProjectName[]> {
      return control
        .selectFrom('projects')
        .select(['entity', 'name'])
        .where('entity', '=', page.entity)
        .where('name', '>', page.after)
        .orderBy('name')
        .limit(page.limit)
        .execute()
    },

    /** Ensures the project of a wire id. @throws 400 when it is not `entity/project`. */
    async ensureById(projectId: string): Promise<void> {
      if (!seen.has(projectId)) await ensure(parseProjectId(projectId))
    },
  }
}

/** Splits `entity/project`. @throws 400 for anything else. */
export function parseProjectId(projectId: string): ProjectName {
  const [entity, name, ...rest] = projectId.split('/')
  if (!entity || !name || rest.length > 0 || entity.length > NAME_CHARS_MAX || name.length > NAME_CHARS_MAX) {
    throw invalidRequest(`Invalid project_id: ${projectId.slice(0, NAME_CHARS_MAX)}; expected entity/project`)
  }
  return { entity, name }
}
