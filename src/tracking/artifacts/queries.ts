import { type Insertable, type Selectable, type SelectQueryBuilder, type Simplify, sql } from 'kysely'
import type { Rights } from '../../access.ts'
import { slicesOf } from '../../slices.ts'
import type { ArtifactFilesTable, ArtifactVersionsTable } from '../../stores/control-db/artifact-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { checkPage } from '../page-queries.ts'
import type { CollectionRow } from './collection-queries.ts'
import { isReadable } from './readable-queries.ts'

export type FileRow = Selectable<ArtifactFilesTable>

/** A file; one without a reference has its bytes here. */
export type NewFile = Insertable<ArtifactFilesTable>

/** A version with the names of its collection. */
export type VersionRow = Selectable<ArtifactVersionsTable> &
  Pick<CollectionRow, 'entity' | 'project' | 'name' | 'type'>

/** Rows that one statement names or writes at most; SQLite binds 32,766 values. */
export const ROWS_PER_STATEMENT = 1_000

/** Every version, with the names of its collection. */
export function versions(db: ControlTx) {
  return db
    .selectFrom('artifact_versions as version')
    .innerJoin('artifact_collections as collection', 'collection.id', 'version.collection_id')
    .selectAll('version')
    .select(['collection.entity', 'collection.project', 'collection.name', 'collection.type'])
}

export function findVersion(db: ControlTx, id: string): Promise<VersionRow | undefined> {
  return versions(db).where('version.id', '=', id).executeTakeFirst()
}

/** Those of some versions that are committed; of {@link ROWS_PER_STATEMENT} at most. */
export function committedVersions(db: ControlTx, ids: readonly string[]): Promise<VersionRow[]> {
  return versions(db).where('version.id', 'in', ids).where('version.state', '=', 'COMMITTED').execute()
}

/** A version by the id that its client gave it, the newest where it gave several the same. */
export function versionOfClient(db: ControlTx, clientId: string): Promise<VersionRow | undefined> {
  return versions(db)
    .where('version.client_id', '=', clientId)
    .where('version.state', '!=', 'DELETED')
    .orderBy('version.id', 'desc')
    .limit(1)
    .executeTakeFirst()
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
  /** Only what these allow to read. */
  rights: Rights
}

/** Versions, newest first by default, one page. Ids grow with time. @throws 413 */
export function listVersions(
  db: ControlTx,
  filter: VersionsFilter,
  page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
): Promise<VersionRow[]> {
  let query = matching(versions(db), filter)
  if (page.after !== undefined)
    query = query.where('version.id', page.order === 'asc' ? '>' : '<', page.after)
  return wholePage(db, query.orderBy('version.id', page.order).limit(page.limit))
}

/** The rows of a page. @throws 413 for too much metadata. */
export async function wholePage<Tables, Name extends keyof Tables, Row>(
  db: ControlTx,
  query: SelectQueryBuilder<Tables, Name, Row>,
): Promise<Simplify<Row>[]> {
  const bytes = sql<number>`octet_length(version.metadata)`.as('bytes')
  await checkPage(db, query.clearSelect().select(bytes).$castTo<{ bytes: number }>().as('page'))
  return query.execute()
}

export function countVersions(db: ControlTx, filter: VersionsFilter): Promise<number> {
  return countOf(db, matching(versions(db), filter))
}

/** How many versions a query selects. */
export async function countOf(db: ControlTx, query: ReturnType<typeof versions>): Promise<number> {
  const counted = db.selectFrom(query.as('all')).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await counted.executeTakeFirstOrThrow()).count
}

function matching(query: ReturnType<typeof versions>, filter: VersionsFilter): ReturnType<typeof versions> {
  let narrowed = query
    .where('collection.entity', '=', filter.entity)
    .where('collection.project', '=', filter.project)
    .where(isReadable(filter.rights))
  if (filter.type !== undefined) narrowed = narrowed.where('collection.type', '=', filter.type)
  if (filter.name !== undefined) narrowed = narrowed.where('collection.name', '=', filter.name)
  if (filter.state !== undefined) narrowed = narrowed.where('version.state', '=', filter.state)
  return narrowed
}

/** What a run logged or used, as far as these rights allow to read it. */
export interface OfRun {
  run_id: string
  role: 'output' | 'input'
  rights: Rights
}

/** Committed versions that a run logged or used, one page. @throws 413 */
export function listRunVersions(
  db: ControlTx,
  of: OfRun,
  page: { after: string; limit: number },
): Promise<VersionRow[]> {
  const query = versionsOfRun(db, of).where('version.id', '>', page.after)
  return wholePage(db, query.orderBy('version.id').limit(page.limit))
}

export function countRunVersions(db: ControlTx, of: OfRun): Promise<number> {
  return countOf(db, versionsOfRun(db, of))
}

function versionsOfRun(db: ControlTx, { run_id, role, rights }: OfRun): ReturnType<typeof versions> {
  const query = versions(db).where('version.state', '=', 'COMMITTED').where(isReadable(rights))
  if (role === 'output') return query.where('version.run_id', '=', run_id)
  const used = db.selectFrom('artifact_uses').select('artifact_id').where('run_id', '=', run_id)
  return query.where('version.id', 'in', used)
}

/** Versions in any state that a run logged and that have neither an alias that is stored nor a link. */
export async function unnamedOutputs(db: ControlTx, run_id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_versions')
    .select('id')
    .where('run_id', '=', run_id)
    .where('id', 'not in', db.selectFrom('artifact_aliases').select('artifact_id'))
    .where('id', 'not in', db.selectFrom('artifact_links').select('artifact_id'))
    .execute()
  return rows.map((row) => row.id)
}

export async function insertUse(tx: ControlTx, use: { run_id: string; artifact_id: string }): Promise<void> {
  await tx
    .insertInto('artifact_uses')
    .values(use)
    .onConflict((clash) => clash.doNothing())
    .execute()
}

/** Marks versions as deleted that are pending and were last changed before a time; resolves with their ids. */
export async function markAbandoned(
  db: ControlTx,
  { before, at }: { before: string; at: string },
): Promise<string[]> {
  const rows = await db
    .updateTable('artifact_versions')
    .set({ state: 'DELETED', updated_at: at })
    .where('state', '=', 'PENDING')
    .where('updated_at', '<', before)
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Marks versions as deleted and removes their aliases and links. */
export async function markDeleted(tx: ControlTx, ids: readonly string[], at: string): Promise<void> {
  for (const some of slicesOf(ids, ROWS_PER_STATEMENT)) {
    await tx.deleteFrom('artifact_aliases').where('artifact_id', 'in', some).execute()
    await tx.deleteFrom('artifact_links').where('artifact_id', 'in', some).execute()
    await tx
      .updateTable('artifact_versions')
      .set({ state: 'DELETED', updated_at: at })
      .where('id', 'in', some)
      .where('state', '!=', 'DELETED')
      .execute()
  }
}

/** Adds files without their bytes; where one of the same name and MD5 is there, it stays. */
export async function announceFiles(
  tx: ControlTx,
  artifact_id: string,
  files: readonly Pick<FileRow, 'name' | 'md5'>[],
): Promise<void> {
  for (const slice of slicesOf(files, ROWS_PER_STATEMENT)) {
    await tx
      .insertInto('artifact_files')
      .values(slice.map(({ name, md5 }) => ({ artifact_id, name, md5, digest: null, size: 0 })))
      .onConflict((clash) =>
        clash
          .columns(['artifact_id', 'name'])
          .doUpdateSet((eb) => ({ md5: eb.ref('excluded.md5'), digest: null, size: 0 }))
          .whereRef('artifact_files.md5', '!=', 'excluded.md5'),
      )
      .execute()
  }
}

/** Writes files, replacing those of the same name. */
export async function putFiles(tx: ControlTx, files: readonly NewFile[]): Promise<void> {
  for (const slice of slicesOf(files, ROWS_PER_STATEMENT)) {
    await tx
      .insertInto('artifact_files')
      .values(slice)
      .onConflict((clash) =>
        clash.columns(['artifact_id', 'name']).doUpdateSet((eb) => ({
          md5: eb.ref('excluded.md5'),
          digest: eb.ref('excluded.digest'),
          size: eb.ref('excluded.size'),
          reference: eb.ref('excluded.reference'),
          extra: eb.ref('excluded.extra'),
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
    .where('reference', 'is', null)
    .limit(1)
    .executeTakeFirst()
}

/** A file without its name. */
export type FileContent = Pick<FileRow, 'md5' | 'digest' | 'size'>

/** A file for each of some MD5s that a version has; of {@link ROWS_PER_STATEMENT} at most. */
export function filesByMd5(
  db: ControlTx,
  artifactId: string,
  md5s: readonly string[],
): Promise<FileContent[]> {
  return db
    .selectFrom('artifact_files')
    .select(['md5', 'digest', 'size'])
    .distinct()
    .where('artifact_id', '=', artifactId)
    .where('md5', 'in', md5s)
    .where('reference', 'is', null)
    .execute()
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

/**
 * How many files a version has, and their bytes, wherever these are; of the files with these names, where there are
 * any.
 */
export function sumFiles(
  db: ControlTx,
  artifactId: string,
  names: readonly string[] = [],
): Promise<{ count: number; bytes: number | null }> {
  let query = db
    .selectFrom('artifact_files')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number | null>('size').as('bytes')])
    .where('artifact_id', '=', artifactId)
  if (names.length > 0) query = query.where('name', 'in', names)
  return query.executeTakeFirstOrThrow()
}

/**
 * Bytes here of the files of all versions of an entity that are not deleted; a file that several versions have counts
 * for each.
 */
export async function sumOfEntity(db: ControlTx, entity: string): Promise<number> {
  const row = await db
    .selectFrom('artifact_files')
    .innerJoin('artifact_versions', 'artifact_versions.id', 'artifact_files.artifact_id')
    .innerJoin('artifact_collections', 'artifact_collections.id', 'artifact_versions.collection_id')
    .select((eb) => eb.fn.sum<number | null>('artifact_files.size').as('bytes'))
    .where('artifact_collections.entity', '=', entity)
    .where('artifact_versions.state', '!=', 'DELETED')
    .where('artifact_files.reference', 'is', null)
    .executeTakeFirst()
  return row?.bytes ?? 0
}

/** The versions of a sequence in any state, without their contents. */
export function versionStates(
  db: ControlTx,
  collectionId: string,
): Promise<Pick<VersionRow, 'id' | 'state'>[]> {
  return db
    .selectFrom('artifact_versions')
    .select(['id', 'state'])
    .where('collection_id', '=', collectionId)
    .execute()
}
