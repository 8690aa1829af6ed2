import { z } from 'zod'
import type { Rights } from '../../access.ts'
import type { Contents } from '../../contents/service.ts'
import { conflict, invalidRequest, notFound } from '../../errors.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { findInherited, type InheritedFiles, stillThere } from './inherited-files.ts'
import type { ManifestEntry, ReadManifest } from './manifest.ts'
import * as queries from './queries.ts'
import { readManifest } from './read-manifest.ts'
import { type ArtifactVersion, loadVersions } from './versions.ts'
import { makeCommitted, manifestOwnerOf, ownerOf } from './writer.ts'

/**
 * Runs inside the transaction that commits a client's version; an error leaves the version uncommitted.
 * `rights` are of who commits it, who was allowed to add data to its project and no more.
 */
export type CommitHook = (version: ArtifactVersion, rights: Rights, tx: ControlTx) => Promise<void>

export interface CommitterDeps {
  control: ControlDb
  contents: Contents
  /** The hooks by type of artifact. */
  hooks: ReadonlyMap<string, CommitHook>
}

/** Commits what a client has uploaded as a version. */
export interface Committer {
  /**
   * Commits a pending version; one that is committed already stays as it is, because clients retry.
   * @param rights of who commits it: files of an earlier version are missing where they do not allow to read that one
   * @throws 400 when files are missing or the manifest asks for what is not supported, 403 of a hook, 404, 409 when it
   * was deleted, 413 for a manifest that takes too long to read, 503 without a thread to read it.
   */
  commit(id: string, rights: Rights): Promise<void>
}

export function createCommitter({ control, contents, hooks }: CommitterDeps): Committer {
  /** Undefined where its bytes are not there. */
  async function manifestOf(row: queries.VersionRow): Promise<ReadManifest | undefined> {
    const bytes = row.manifest_digest === null ? undefined : await contents.read(row.manifest_digest)
    return bytes && readManifest(bytes, row.entity)
  }

  async function isCommitted(id: string): Promise<boolean> {
    return (await queries.findVersion(control, id))?.state === 'COMMITTED'
  }

  async function commit(id: string, rights: Rights): Promise<void> {
    const row = await queries.findVersion(control, id)
    if (row === undefined) throw notFound('artifact version', id)
    if (row.state === 'DELETED') throw conflict(`The artifact version ${id} has been deleted`)
    if (row.state === 'COMMITTED') return
    const manifest = await manifestOf(row)
    if (manifest === undefined) {
      // Another request has committed it meanwhile, and released the manifest.
      if (await isCommitted(id)) return
      throw invalidRequest('The manifest of the artifact has not been uploaded')
    }
    const { entries, digest } = manifest
    const inherited = await findInherited(control, entries, { entity: row.entity, rights })
    await control.transaction().execute(async (tx) => {
      // Another request may have committed or deleted it while the manifest was read.
      if ((await queries.findVersion(tx, id))?.state !== 'PENDING') return
      const files = await filesOf(tx, id, entries, await stillThere(tx, inherited))
      await queries.deleteFiles(tx, id)
      await queries.putFiles(
        tx,
        files.map((file) => ({ artifact_id: id, ...file })),
      )
      await contents.share(tx, ownerOf(id), [...new Set(files.flatMap(({ digest }) => digest ?? []))])
      await queries.updateVersion(tx, id, { digest })
      await makeCommitted(tx, row, z.array(z.string()).parse(JSON.parse(row.wanted_aliases)))
      await runHook(tx, id, rights)
    })
    await contents.release([manifestOwnerOf(id)])
  }

  async function runHook(tx: ControlTx, id: string, rights: Rights): Promise<void> {
    const row = await queries.findVersion(tx, id)
    const hook = hooks.get(row?.type ?? '')
    if (row === undefined || hook === undefined) return
    const [version] = await loadVersions(tx, [row])
    if (version !== undefined) await hook(version, rights, tx)
  }

  return { commit }
}

/**
 * A file for every entry: a reference, or bytes that were uploaded for this version or for an earlier one that the
 * entry names.
 * @throws 400.
 */
async function filesOf(
  tx: ControlTx,
  id: string,
  entries: readonly ManifestEntry[],
  inherited: InheritedFiles,
): Promise<Omit<queries.NewFile, 'artifact_id'>[]> {
  const uploaded = new Map((await queries.listFiles(tx, [id])).map((file) => [file.name, file]))
  return entries.map((entry) => {
    if (entry.reference !== undefined) {
      const { uri, size, extra } = entry.reference
      return { name: entry.name, md5: entry.md5, digest: null, size, reference: uri, extra }
    }
    const own = uploaded.get(entry.name)
    const file = own?.md5 === entry.md5 ? own : inherited.get(entry.birthArtifactId ?? '')?.get(entry.md5)
    if (file?.digest == null) throw invalidRequest(`The file ${entry.name} has not been uploaded`)
    return { name: entry.name, digest: file.digest, md5: file.md5, size: file.size }
  })
}
