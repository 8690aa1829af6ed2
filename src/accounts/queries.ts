import { sql } from 'kysely'
import { contains } from '../stores/control-db/contains.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import type { MadeProject, ProjectName, ProjectSelection } from './project-name.ts'

/** When a project was first used; undefined for one that never was. */
export async function findCreatedAt(
  control: ControlDb,
  { entity, name }: ProjectName,
): Promise<string | undefined> {
  const row = await control
    .selectFrom('projects')
    .select('created_at')
    .where('entity', '=', entity)
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.created_at
}

/** Adds a project; one that exists stays as it is. */
export async function insertProject(
  control: ControlDb,
  project: ProjectName & { created_at: string },
): Promise<void> {
  const { entity, name, created_at } = project
  await control
    .insertInto('projects')
    .values({ entity, name, created_at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const ID = sql<string>`entity || '/' || name`

/** The newest projects of a selection. */
export async function listNewest(
  control: ControlDb,
  { entities, project, find, limit }: ProjectSelection & { limit: number },
): Promise<MadeProject[]> {
  // In SQL of PostgreSQL, no list is empty.
  if (entities.length === 0) return []
  let query = control.selectFrom('projects').select(['entity', 'name', 'created_at'])
  if (entities !== 'all') query = query.where('entity', 'in', entities)
  if (project !== undefined) query = query.where('name', '=', project)
  if (find !== '') query = query.where(contains(sql`lower(${ID})`, sql`lower(${find})`))
  return query.orderBy('created_at', 'desc').limit(limit).execute()
}

/** Those of the projects that exist, in no order. */
export async function readProjects(
  control: ControlDb,
  projectIds: readonly string[],
): Promise<MadeProject[]> {
  if (projectIds.length === 0) return []
  return control
    .selectFrom('projects')
    .select(['entity', 'name', 'created_at'])
    .where(ID, 'in', projectIds)
    .execute()
}

/** Projects of an entity by name, one page. */
export function listProjects(
  control: ControlDb,
  page: { entity: string; after: string; limit: number },
): Promise<ProjectName[]> {
  return control
    .selectFrom('projects')
    .select(['entity', 'name'])
    .where('entity', '=', page.entity)
    .where('name', '>', page.after)
    .orderBy('name')
    .limit(page.limit)
    .execute()
}

/** The ids of all projects of an entity. */
export async function projectIdsOf(tx: ControlTx, entity: string): Promise<string[]> {
  const rows = await tx.selectFrom('projects').select('name').where('entity', '=', entity).execute()
  return rows.map(({ name }) => `${entity}/${name}`)
}

/** How many of the projects there were. */
export async function deleteProjects(tx: ControlTx, projectIds: readonly string[]): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('projects')
    .where(ID, 'in', projectIds)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
