import type { Contents } from '../../contents.ts'
import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import { artifactDigest } from './manifest.ts'
import { checkName, LATEST, storedAliases } from './names.ts'
import * as queries from './queries.ts'
import { type ArtifactFile, loadAliases } from './versions.ts'

/** What the server itself makes a version of. */
export interface Publication {
  entity: string
  /** A project that exists. */
  project: string
  name: string
  type: string
  /** `latest` is not needed: the newest version always is. */
  aliases: readonly string[]
  metadata: Record<string, unknown>
  /** Contents that somebody owns; the version becomes one more owner. */
  files: readonly ArtifactFile[]
  created_by: string
  description?: string
}

/** Who owns the files of a version. */
export function ownerOf(id: string): string {
  return `artifact:${id}`
}

/** Who owns the manifest that a client uploads, until the version is committed. */
export function manifestOwnerOf(id: string): string {
  return `artifact-manifest:${id}`
}

/** What changes versions that are there, and what the server adds of its own. */
export function createWriting({ control, contents }: { control: ControlDb; contents: Contents }) {
  return {
    /** Writes a committed version inside a transaction of the caller's. @throws 409 when the name has another type. */
    async publish(tx: ControlTx, publication: Publication): Promise<{ id: string; version: number }> {
      const collection = await ensureCollection(tx, publication)
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
    },

    /** Deletes versions, pending ones too, and releases their bytes; what is gone already is no error. */
    async removeVersions(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await queries.markDeleted(control, ids, nowIso())
      await contents.release(ids.flatMap((id) => [ownerOf(id), manifestOwnerOf(id)]))
    },

    /** Points an alias at a version, away from the one that had it. @throws 404 for a version that is not committed. */
    async setAlias({ id, alias }: { id: string; alias: string }): Promise<void> {
      await control.transaction().execute((tx) => addAliases(tx, id, [alias]))
    },

    /** Takes an alias from a version; one that it does not have is no error. */
    async removeAlias({ id, alias }: { id: string; alias: string }): Promise<void> {
      await queries.dropAlias(control, id, alias)
    },

    /** Notes that a run has a version as its input. @throws 404. */
    async use(use: { run_id: string; artifact_id: string }): Promise<void> {
      const row = await queries.findVersion(control, use.artifact_id)
      if (row?.state !== 'COMMITTED') throw notFound('artifact version', use.artifact_id)
      await queries.insertUse(control, use)
    },

    /** Changes what describes a version. @throws 404. */
    async describe(
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
    },

    /** The aliases of versions, `latest` among them where it applies; unknown ids have none. */
    aliasesOf: (ids: readonly string[]): Promise<Map<string, string[]>> => loadAliases(control, ids),
  }
}

/** @throws 404 for a version that is not committed, 409 for `latest` on one that is not the newest. */
export async function addAliases(tx: ControlTx, id: string, aliases: readonly string[]): Promise<void> {
  const row = await queries.findVersion(tx, id)
  if (row?.state !== 'COMMITTED') throw notFound('artifact version', id)
  if (aliases.includes(LATEST) && (await queries.newestVersion(tx, row.collection_id))?.id !== id) {
    throw conflict('The alias latest always belongs to the newest version and cannot be moved')
  }
  for (const alias of storedAliases(aliases)) {
    await queries.putAlias(tx, { collection_id: row.collection_id, alias, artifact_id: id })
  }
}

/** Finds or makes a collection. @throws 400 for a bad name, 409 when it has another type. */
export async function ensureCollection(
  tx: ControlTx,
  wanted: queries.CollectionName & { type: string },
): Promise<queries.CollectionRow> {
  const { entity, project } = wanted
  const name = checkName('name', wanted.name)
  const fresh = {
    id: newId(),
    entity,
    project,
    name,
    type: checkName('type', wanted.type),
    last_version: -1,
    created_at: nowIso(),
  }
  await queries.insertCollection(tx, fresh)
  const collection = (await queries.findCollection(tx, { entity, project, name })) ?? fresh
  if (collection.type !== wanted.type) {
    throw conflict(`The artifact ${name} has the type ${collection.type}, not ${wanted.type}`)
  }
  return collection
}

type NewVersion = Parameters<typeof queries.insertVersion>[1]

/** A version of which nothing has come yet. */
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
  const version = await queries.takeVersion(tx, row.collection_id)
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
