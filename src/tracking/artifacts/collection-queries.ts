import type { Selectable } from 'kysely'
import type { ArtifactCollectionsTable } from '../../stores/control-db/artifact-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'

export type CollectionRow = Selectable<ArtifactCollectionsTable>

export interface CollectionName {
  entity: string
  project: string
  name: string
}

export function findCollection(db: ControlTx, where: CollectionName): Promise<CollectionRow | undefined> {
  return db
    .selectFrom('artifact_collections')
    .selectAll()
    .where('entity', '=', where.entity)
    .where('project', '=', where.project)
    .where('name', '=', where.name)
    .executeTakeFirst()
}

export function findCollectionById(db: ControlTx, id: string): Promise<CollectionRow | undefined> {
  return db.selectFrom('artifact_collections').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertCollection(tx: ControlTx, row: CollectionRow): Promise<void> {
  await tx
    .insertInto('artifact_collections')
    .values(row)
    .onConflict((clash) => clash.doNothing())
    .execute()
}

/** The collections of a project, of one type or of all. */
export interface CollectionsFilter {
  entity: string
  project: string
  type: string | undefined
}

/** Collections of a project by name, one page. */
export function listCollections(
  db: ControlTx,
  filter: CollectionsFilter,
  page: { after: string; limit: number },
): Promise<CollectionRow[]> {
  return collections(db, filter)
    .selectAll()
    .where('name', '>', page.after)
    .orderBy('name')
    .limit(page.limit)
    .execute()
}

export async function countCollections(db: ControlTx, filter: CollectionsFilter): Promise<number> {
  const counted = collections(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await counted.executeTakeFirstOrThrow()).count
}

function collections(db: ControlTx, { entity, project, type }: CollectionsFilter) {
  const all = db
    .selectFrom('artifact_collections')
    .where('entity', '=', entity)
    .where('project', '=', project)
  return type === undefined ? all : all.where('type', '=', type)
}

/** The types of a project's artifacts, each with when it was first seen. */
export function listTypes(
  db: ControlTx,
  { entity, project }: { entity: string; project: string },
): Promise<{ name: string; created_at: string }[]> {
  return db
    .selectFrom('artifact_collections')
    .select((eb) => ['type as name', eb.fn.min('created_at').as('created_at')])
    .where('entity', '=', entity)
    .where('project', '=', project)
    .groupBy('type')
    .orderBy('type')
    .execute()
}

/** Gives out the collection's next version number. */
export async function takeVersion(tx: ControlTx, collectionId: string): Promise<number> {
  const row = await tx
    .updateTable('artifact_collections')
    .set((eb) => ({ last_version: eb('last_version', '+', 1) }))
    .where('id', '=', collectionId)
    .returning('last_version')
    .executeTakeFirstOrThrow()
  return row.last_version
}

/** Whether a portfolio has a version of a sequence. */
export async function isLinked(db: ControlTx, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('artifact_links as link')
    .innerJoin('artifact_versions as version', 'version.id', 'link.artifact_id')
    .select('link.id')
    .where('version.collection_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Changes what describes a collection. @throws where its project has the name already. */
export async function updateCollection(
  tx: ControlTx,
  id: string,
  values: Partial<Pick<CollectionRow, 'name' | 'type' | 'description' | 'tags' | 'updated_at'>>,
): Promise<void> {
  await tx.updateTable('artifact_collections').set(values).where('id', '=', id).execute()
}

/** Deletes a collection, its aliases and links, and the rows of its versions; the caller releases the bytes. */
export async function deleteCollection(tx: ControlTx, id: string): Promise<void> {
  const versions = tx.selectFrom('artifact_versions').select('id').where('collection_id', '=', id)
  await tx.deleteFrom('artifact_files').where('artifact_id', 'in', versions).execute()
  await tx.deleteFrom('artifact_uses').where('artifact_id', 'in', versions).execute()
  await tx.deleteFrom('artifact_links').where('artifact_id', 'in', versions).execute()
  await tx.deleteFrom('artifact_aliases').where('artifact_id', 'in', versions).execute()
  await tx.deleteFrom('artifact_links').where('collection_id', '=', id).execute()
  await tx.deleteFrom('artifact_aliases').where('collection_id', '=', id).execute()
  await tx.deleteFrom('artifact_versions').where('collection_id', '=', id).execute()
  await tx.deleteFrom('artifact_collections').where('id', '=', id).execute()
}
