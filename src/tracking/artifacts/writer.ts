import type { Contents } from '../../contents/service.ts'
import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import * as aliasQueries from './alias-queries.ts'
import {
  type CollectionName,
  type CollectionRow,
  findCollection,
  insertCollection,
  takeVersion,
} from './collection-queries.ts'
import { findLinked } from './link-queries.ts'
import { artifactDigest } from './manifest.ts'
import { type CollectionRef, memberOf, ownMember } from './members.ts'
import { checkAliasCount, checkName, LATEST, storedAliases } from './names.ts'
import * as queries from './queries.ts'
import { type ArtifactFile, loadAliases } from './versions.ts'

/** A version made by the server itself. */
export interface Publication {
  entity: string
  /** A project that exists. */
  project: string
  name: string
  type: string
  /** Without `latest`, which is always the newest version. */
  aliases: readonly string[]
  metadata: Record<string, unknown>
  /** Contents that have an owner; the version becomes one more. */
  files: readonly ArtifactFile[]
  created_by: string
  description?: string
}

/** Before the id of a version in the name of the owner of its files. */
export const OWNER_PREFIX = 'artifact:'

/** The owner of the files of a version. */
export function ownerOf(id: string): string {
  return OWNER_PREFIX + id
}

/** The same of its manifest. */
export const MANIFEST_OWNER_PREFIX = 'artifact-manifest:'

/** The owner of the manifest that a client uploads, until the version is committed. */
export function manifestOwnerOf(id: string): string {
  return MANIFEST_OWNER_PREFIX + id
}

/** All owners of what is stored for some versions. */
export function ownersOf(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [ownerOf(id), manifestOwnerOf(id)])
}

/** Changes of existing versions, and versions that the server adds. */
export interface ArtifactWriter {
  /** Writes a committed version inside a transaction of the caller's. @throws 409 when the name has another type. */
  publish(tx: ControlTx, publication: Publication): Promise<{ id: string; version: number }>
  /** Deletes versions, pending ones too, and releases their bytes; deleted ones are no error. */
  removeVersions(ids: readonly string[]): Promise<void>
  /**
   * Deletes the versions that a run has logged, but for those with an alias other than `latest` and those that are
   * linked.
   */
  removeOutputs(run_id: string): Promise<void>
  /**
   * Points aliases of collections at a version, away from their previous ones: all of them or, with an error, none.
   * @throws 400 for too many, 404 for a version that is not committed or not in one of the collections.
   */
  setAliases(id: string, aliases: readonly AliasIn[]): Promise<void>
  /** Removes aliases of collections from a version; absent ones are no error. @throws 400 for too many, 404. */
  removeAliases(id: string, aliases: readonly AliasIn[]): Promise<void>
  /** Records that a run used a version as input. @throws 404. */
  use(use: { run_id: string; artifact_id: string }): Promise<void>
  /** Changes what describes a version. @throws 404. */
  describe(
    id: string,
    change: { metadata?: string; description?: string | null; tags?: (present: string[]) => string[] },
  ): Promise<void>
  /** The aliases of versions, `latest` among them where it applies; unknown ids have none. */
  aliasesOf(ids: readonly string[]): Promise<Map<string, string[]>>
}

export function createArtifactWriter({
  control,
  contents,
}: {
  control: ControlDb
  contents: Contents
}): ArtifactWriter {
  async function publish(tx: ControlTx, publication: Publication): Promise<{ id: string; version: number }> {
    const collection = await ensureCollection(tx, { ...publication, kind: 'sequence' })
    const files = publication.files
    const row = newVersion({
      collection_id: collection.id,
      digest: artifactDigest(files),
      metadata: JSON.stringify(publication.metadata),
      description: publication.description ?? null,
      created_by: publication.created_by,
    })
    await queries.insertVersion(tx, row)
    await queries.putFiles(
      tx,
      files.map((file) => ({ artifact_id: row.id, ...file })),
    )
    await contents.share(tx, ownerOf(row.id), [...new Set(files.map((file) => file.digest))])
    const version = await makeCommitted(tx, row, publication.aliases)
    return { id: row.id, version }
  }

  async function removeVersions(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await queries.markDeleted(control, ids, nowIso())
    await contents.release(ownersOf(ids))
  }

  async function removeOutputs(run_id: string): Promise<void> {
    const ids = await control.transaction().execute(async (tx) => {
      const unnamed = await queries.unnamedOutputs(tx, run_id)
      await queries.markDeleted(tx, unnamed, nowIso())
      return unnamed
    })
    await contents.release(ownersOf(ids))
  }

  async function setAliases(id: string, aliases: readonly AliasIn[]): Promise<void> {
    checkAliasCount(aliases)
    await control.transaction().execute(async (tx) => {
      for (const { alias, of } of aliases) await addAliases(tx, id, [alias], await collectionOf(tx, id, of))
    })
  }

  async function removeAliases(id: string, aliases: readonly AliasIn[]): Promise<void> {
    checkAliasCount(aliases)
    await control.transaction().execute(async (tx) => {
      for (const { alias, of } of aliases) {
        const collection = await collectionOf(tx, id, of)
        if (collection === undefined) continue
        await aliasQueries.dropAlias(tx, { collection_id: collection.id, alias, artifact_id: id })
      }
    })
  }

  async function use(use: { run_id: string; artifact_id: string }): Promise<void> {
    const row = await queries.findVersion(control, use.artifact_id)
    if (row?.state !== 'COMMITTED') throw notFound('artifact version', use.artifact_id)
    await queries.insertUse(control, use)
  }

  async function describe(
    id: string,
    change: { metadata?: string; description?: string | null; tags?: (present: string[]) => string[] },
  ): Promise<void> {
    await control.transaction().execute(async (tx) => {
      const row = await queries.findVersion(tx, id)
      if (row === undefined || row.state === 'DELETED') throw notFound('artifact version', id)
      const tags = change.tags?.(JSON.parse(row.tags))
      await queries.updateVersion(tx, id, {
        updated_at: nowIso(),
        ...(change.metadata !== undefined && { metadata: change.metadata }),
        ...(change.description !== undefined && { description: change.description }),
        ...(tags && { tags: JSON.stringify(tags) }),
      })
    })
  }

  return {
    publish,
    removeVersions,
    removeOutputs,
    setAliases,
    removeAliases,
    use,
    describe,
    aliasesOf: (ids) => loadAliases(control, ids),
  }
}

/** An alias in a collection of a version, by default its sequence. */
interface AliasIn {
  alias: string
  of?: CollectionName
}

/** The collection in which a version has an alias; undefined for a version that is gone. @throws 404. */
async function collectionOf(
  tx: ControlTx,
  id: string,
  name: CollectionName | undefined,
): Promise<CollectionRef | undefined> {
  const row = await queries.findVersion(tx, id)
  if (row === undefined) return undefined
  const sequence = ownMember(row).collection
  if (name === undefined) return sequence
  const named = await findCollection(tx, name)
  const isMember = named?.id === sequence.id || (named && (await findLinked(tx, named.id, id)) !== undefined)
  if (named === undefined || !isMember) throw notFound('artifact version in the collection', name.name)
  return named
}

/**
 * Gives a version aliases in one of its collections, by default its sequence.
 * @throws 404 for a version that is not committed, 409 for `latest` on one that is not the newest.
 */
export async function addAliases(
  tx: ControlTx,
  id: string,
  aliases: readonly string[],
  where?: CollectionRef,
): Promise<void> {
  const row = await queries.findVersion(tx, id)
  if (row?.state !== 'COMMITTED') throw notFound('artifact version', id)
  const collection = where ?? ownMember(row).collection
  if (aliases.includes(LATEST) && (await memberOf(tx, collection, LATEST))?.version.id !== id) {
    throw conflict('The alias latest always belongs to the newest version and cannot be moved')
  }
  for (const alias of storedAliases(aliases)) {
    await aliasQueries.putAlias(tx, { collection_id: collection.id, alias, artifact_id: id })
  }
}

const OTHER_KIND = {
  sequence: (name: string) => `${name} has versions of its own; link to a collection with another name`,
  portfolio: (name: string) => `${name} has links to versions of other artifacts; log under another name`,
}

/** Finds or makes a collection. @throws 400 for a bad name, 409 when it has another type or is of the other kind. */
export async function ensureCollection(
  tx: ControlTx,
  wanted: CollectionName & { type: string; kind: CollectionRow['kind'] },
): Promise<CollectionRow> {
  const { entity, project, kind } = wanted
  const name = checkName('name', wanted.name)
  const fresh = {
    id: newId(),
    entity,
    project,
    name,
    type: checkName('type', wanted.type),
    kind,
    description: null,
    tags: '[]',
    last_version: -1,
    created_at: nowIso(),
    updated_at: null,
  }
  await insertCollection(tx, fresh)
  const collection = (await findCollection(tx, { entity, project, name })) ?? fresh
  if (collection.kind !== kind) throw conflict(OTHER_KIND[collection.kind](name))
  if (collection.type !== wanted.type) {
    throw conflict(`The artifact ${name} has the type ${collection.type}, not ${wanted.type}`)
  }
  return collection
}

type NewVersion = Parameters<typeof queries.insertVersion>[1]

/** A version without files. */
export function newVersion(
  given: Pick<NewVersion, 'collection_id' | 'digest' | 'metadata' | 'description' | 'created_by'> &
    Partial<NewVersion>,
): NewVersion {
  const now = nowIso()
  return {
    id: newId(),
    version: null,
    state: 'PENDING',
    tags: '[]',
    wanted_aliases: '[]',
    manifest_md5: null,
    manifest_digest: null,
    run_id: null,
    client_id: null,
    created_at: now,
    updated_at: now,
    ...given,
  }
}

/** Gives a version its number and its aliases. */
export async function makeCommitted(
  tx: ControlTx,
  row: { id: string; collection_id: string },
  aliases: readonly string[],
): Promise<number> {
  const version = await takeVersion(tx, row.collection_id)
  await queries.updateVersion(tx, row.id, {
    version,
    state: 'COMMITTED',
    manifest_md5: null,
    manifest_digest: null,
    updated_at: nowIso(),
  })
  await addAliases(tx, row.id, aliases)
  return version
}
