import type { Selectable } from 'kysely'
import type {
  ArtifactCollectionsTable,
  ArtifactFilesTable,
  ArtifactVersionsTable,
  ControlTx,
} from '../../stores/control-db/tables.ts'

export type CollectionRow = Selectable<ArtifactCollectionsTable>
export type FileRow = Selectable<ArtifactFilesTable>

/** A version with the names of its collection. */
export type VersionRow = Selectable<ArtifactVersionsTable> &
  Pick<CollectionRow, 'entity' | 'project' | 'name' | 'type'>

export interface CollectionName {
  entity: string
  project: string
  name: string
}

/** Values that one INSERT binds at most; SQLite takes 32,766. */
const ROWS_PER_INSERT = 1_000

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

/** Collections of a project by name, one page. */
export function listCollections(
  db: ControlTx,
  page: { entity: string; project: string; type: string | undefined; after: string; limit: number },
): Promise<CollectionRow[]> {
  let query = db
    .selectFrom('artifact_collections')
    .selectAll()
    .where('entity', '=', page.entity)
    .where('project', '=', page.project)
    .where('name', '>', page.after)
  if (page.type !== undefined) query = query.where('type', '=', page.type)
  return query.orderBy('name').limit(page.limit).execute()
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

function versions(db: ControlTx) {
  return db
    .selectFrom('artifact_versions as version')
    .innerJoin('artifact_collections as collection', 'collection.id', 'version.collection_id')
    .selectAll('version')
    .select(['collection.entity', 'collection.project', 'collection.name', 'collection.type'])
}

export function findVersion(db: ControlTx, id: string): Promise<VersionRow | undefined> {
  return versions(db).where('version.id', '=', id).executeTakeFirst()
}

export async function insertVersion(tx: ControlTx, row: Selectable<ArtifactVersionsTable>): Promise<void> {
  await tx.insertInto('artifact_versions').values(row).execute()
}

export async function updateVersion(
  tx: ControlTx,
  id: string,
  values: Partial<Selectable<ArtifactVersionsTable>>,
): Promise<void> {
  await tx.updateTable('artifact_versions').set(values).where('id', '=', id).execute()
}

/** The highest committed version. */
export function newestVersion(db: ControlTx, collectionId: string): Promise<VersionRow | undefined> {
  return versions(db)
    .where('version.collection_id', '=', collectionId)
    .where('version.state', '=', 'COMMITTED')
    .orderBy('version.version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** A committed version by number. */
export function numberedVersion(
  db: ControlTx,
  collectionId: string,
  version: number,
): Promise<VersionRow | undefined> {
  return versions(db)
    .where('version.collection_id', '=', collectionId)
    .where('version.version', '=', version)
    .where('version.state', '=', 'COMMITTED')
    .executeTakeFirst()
}

/** A committed version by an alias that is stored. */
export function aliasedVersion(
  db: ControlTx,
  collectionId: string,
  alias: string,
): Promise<VersionRow | undefined> {
  return versions(db)
    .innerJoin('artifact_aliases as alias', 'alias.artifact_id', 'version.id')
    .where('alias.collection_id', '=', collectionId)
    .where('alias.alias', '=', alias)
    .where('version.state', '=', 'COMMITTED')
    .executeTakeFirst()
}

export interface VersionsFilter {
  entity: string
  project: string
  type?: string | undefined
  name?: string | undefined
  state?: 'PENDING' | 'COMMITTED' | 'DELETED' | undefined
}

/** Versions, newest first unless told otherwise, one page. Ids grow with time. */
export function listVersions(
  db: ControlTx,
  filter: VersionsFilter,
  page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
): Promise<VersionRow[]> {
  let query = matching(versions(db), filter)
  if (page.after !== undefined)
    query = query.where('version.id', page.order === 'asc' ? '>' : '<', page.after)
  return query.orderBy('version.id', page.order).limit(page.limit).execute()
}

export async function countVersions(db: ControlTx, filter: VersionsFilter): Promise<number> {
  const counted = db
    .selectFrom(matching(versions(db), filter).as('all'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
  return (await counted.executeTakeFirstOrThrow()).count
}

function matching(query: ReturnType<typeof versions>, filter: VersionsFilter): ReturnType<typeof versions> {
  let narrowed = query
    .where('collection.entity', '=', filter.entity)
    .where('collection.project', '=', filter.project)
  if (filter.type !== undefined) narrowed = narrowed.where('collection.type', '=', filter.type)
  if (filter.name !== undefined) narrowed = narrowed.where('collection.name', '=', filter.name)
  if (filter.state !== undefined) narrowed = narrowed.where('version.state', '=', filter.state)
  return narrowed
}

/** Committed versions that a run logged or took. */
export function listRunVersions(
  db: ControlTx,
  wanted: { run_id: string; role: 'output' | 'input'; after: string; limit: number },
): Promise<VersionRow[]> {
  const used = db.selectFrom('artifact_uses').select('artifact_id').where('run_id', '=', wanted.run_id)
  let query = versions(db).where('version.state', '=', 'COMMITTED').where('version.id', '>', wanted.after)
  query =
    wanted.role === 'output'
      ? query.where('version.run_id', '=', wanted.run_id)
      : query.where('version.id', 'in', used)
  return query.orderBy('version.id').limit(wanted.limit).execute()
}

export async function insertUse(tx: ControlTx, use: { run_id: string; artifact_id: string }): Promise<void> {
  await tx
    .insertInto('artifact_uses')
    .values(use)
    .onConflict((clash) => clash.doNothing())
    .execute()
}

export async function usersOf(db: ControlTx, artifactId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_uses')
    .select('run_id')
    .where('artifact_id', '=', artifactId)
    .execute()
  return rows.map((row) => row.run_id)
}

/** Pending versions that were made before a time. */
export async function pendingBefore(db: ControlTx, time: string): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_versions')
    .select('id')
    .where('state', '=', 'PENDING')
    .where('created_at', '<', time)
    .execute()
  return rows.map((row) => row.id)
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

/** Marks as deleted, with the aliases gone; returns whose state has changed. */
export async function markDeleted(tx: ControlTx, ids: readonly string[], at: string): Promise<string[]> {
  await tx.deleteFrom('artifact_aliases').where('artifact_id', 'in', ids).execute()
  const rows = await tx
    .updateTable('artifact_versions')
    .set({ state: 'DELETED', updated_at: at })
    .where('id', 'in', ids)
    .where('state', '!=', 'DELETED')
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Writes files, over those of the same name. */
export async function putFiles(tx: ControlTx, files: readonly FileRow[]): Promise<void> {
  for (let start = 0; start < files.length; start += ROWS_PER_INSERT) {
    await tx
      .insertInto('artifact_files')
      .values(files.slice(start, start + ROWS_PER_INSERT))
      .onConflict((clash) =>
        clash.columns(['artifact_id', 'name']).doUpdateSet((eb) => ({
          md5: eb.ref('excluded.md5'),
          digest: eb.ref('excluded.digest'),
          size: eb.ref('excluded.size'),
        })),
      )
      .execute()
  }
}

export async function deleteFiles(tx: ControlTx, artifactId: string): Promise<void> {
  await tx.deleteFrom('artifact_files').where('artifact_id', '=', artifactId).execute()
}

export function findFile(db: ControlTx, artifactId: string, name: string): Promise<FileRow | undefined> {
  return db
    .selectFrom('artifact_files')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where('name', '=', name)
    .executeTakeFirst()
}

export function findFileByMd5(db: ControlTx, artifactId: string, md5: string): Promise<FileRow | undefined> {
  return db
    .selectFrom('artifact_files')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where('md5', '=', md5)
    .limit(1)
    .executeTakeFirst()
}

/** Files of versions by name. */
export function listFiles(db: ControlTx, artifactIds: readonly string[]): Promise<FileRow[]> {
  return db
    .selectFrom('artifact_files')
    .selectAll()
    .where('artifact_id', 'in', artifactIds)
    .orderBy('artifact_id')
    .orderBy('name')
    .execute()
}

export function pageFiles(
  db: ControlTx,
  page: { artifact_id: string; names: readonly string[]; after: string; limit: number },
): Promise<FileRow[]> {
  let query = db
    .selectFrom('artifact_files')
    .selectAll()
    .where('artifact_id', '=', page.artifact_id)
    .where('name', '>', page.after)
  if (page.names.length > 0) query = query.where('name', 'in', page.names)
  return query.orderBy('name').limit(page.limit).execute()
}

/** How many files a version has, and their bytes. */
export function sumFiles(
  db: ControlTx,
  artifactId: string,
): Promise<{ count: number; bytes: number | null }> {
  return db
    .selectFrom('artifact_files')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number | null>('size').as('bytes')])
    .where('artifact_id', '=', artifactId)
    .executeTakeFirstOrThrow()
}

/** Points an alias at a version, away from where it pointed. */
export async function putAlias(
  tx: ControlTx,
  row: { collection_id: string; alias: string; artifact_id: string },
): Promise<void> {
  await tx
    .insertInto('artifact_aliases')
    .values(row)
    .onConflict((clash) =>
      clash.columns(['collection_id', 'alias']).doUpdateSet({ artifact_id: row.artifact_id }),
    )
    .execute()
}

export async function dropAlias(tx: ControlTx, artifactId: string, alias: string): Promise<void> {
  await tx
    .deleteFrom('artifact_aliases')
    .where('artifact_id', '=', artifactId)
    .where('alias', '=', alias)
    .execute()
}

/** The stored aliases of a collection by name, one page. */
export async function pageAliases(
  db: ControlTx,
  page: { collection_id: string; after: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_aliases')
    .select('alias')
    .where('collection_id', '=', page.collection_id)
    .where('alias', '>', page.after)
    .orderBy('alias')
    .limit(page.limit)
    .execute()
  return rows.map((row) => row.alias)
}

/** Stored aliases of versions, by name. */
export function listAliases(
  db: ControlTx,
  artifactIds: readonly string[],
): Promise<{ artifact_id: string; alias: string }[]> {
  return db
    .selectFrom('artifact_aliases')
    .select(['artifact_id', 'alias'])
    .where('artifact_id', 'in', artifactIds)
    .orderBy('alias')
    .execute()
}

/** Which of the given versions are the newest of their collection. */
export async function newestAmong(db: ControlTx, artifactIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_versions as version')
    .select('version.id')
    .where('version.id', 'in', artifactIds)
    .where('version.state', '=', 'COMMITTED')
    .where((eb) =>
      eb(
        'version.version',
        '=',
        eb
          .selectFrom('artifact_versions as other')
          .select((inner) => inner.fn.max('other.version').as('newest'))
          .whereRef('other.collection_id', '=', 'version.collection_id')
          .where('other.state', '=', 'COMMITTED'),
      ),
    )
    .execute()
  return rows.map((row) => row.id)
}
