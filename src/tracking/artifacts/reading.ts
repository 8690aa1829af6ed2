import type { Contents } from '../../contents.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { sendFile } from '../send-file.ts'
import type { Signature, SignedUrls } from '../signed-urls.ts'
import { writeManifest } from './manifest.ts'
import { LATEST, versionOf } from './names.ts'
import * as queries from './queries.ts'
import { type ArtifactVersion, loadVersions } from './versions.ts'

export interface Wanted extends queries.CollectionName {
  type?: string | undefined
  /** `latest`, `v3` or any alias. */
  alias: string
}

export interface ReadingDeps {
  control: ControlDb
  contents: Contents
  signedUrls: SignedUrls
}

/** What others see of versions. */
export function createReading({ control, contents, signedUrls }: ReadingDeps) {
  async function row(wanted: Wanted): Promise<queries.VersionRow | undefined> {
    const collection = await queries.findCollection(control, wanted)
    if (collection === undefined) return undefined
    if (wanted.type !== undefined && wanted.type !== collection.type) return undefined
    if (wanted.alias === LATEST) return queries.newestVersion(control, collection.id)
    const version = versionOf(wanted.alias)
    return version === undefined
      ? queries.aliasedVersion(control, collection.id, wanted.alias)
      : queries.numberedVersion(control, collection.id, version)
  }

  async function send(file: { id: string; name: string }, range: string | undefined): Promise<RawReply> {
    const version = await queries.findVersion(control, file.id)
    const found = version?.state === 'COMMITTED' && (await queries.findFile(control, file.id, file.name))
    const path = found && found.digest !== null ? await contents.localPath(found.digest) : undefined
    if (!found || path === undefined) throw notFound('artifact file', file.name)
    return sendFile({ path, size: found.size, range })
  }

  return {
    /** The row that a reference means. */
    row,

    /** A committed version that is not deleted; undefined when nothing has that name. */
    async resolve(wanted: Wanted): Promise<ArtifactVersion | undefined> {
      const found = await row(wanted)
      const [version] = found === undefined ? [] : await loadVersions(control, [found])
      return version
    },

    /** Sends a file to whoever has a key. @throws 404. */
    file: (req: { artifact_id: string; name: string }, context: CallContext): Promise<RawReply> =>
      send({ id: req.artifact_id, name: req.name }, context.header('range')),

    /** Sends a file to whoever has its URL. @throws 403, 404. */
    async signedFile(req: { artifact_id: string; name: string } & Signature, context: CallContext) {
      const grant = { method: 'GET', kind: 'artifact-files', id: req.artifact_id, name: req.name } as const
      await signedUrls.check(grant, req)
      return send({ id: req.artifact_id, name: req.name }, context.header('range'))
    },

    /** Sends a version's manifest to whoever has its URL. @throws 403, 404. */
    async signedManifest(req: { artifact_id: string } & Signature): Promise<RawReply> {
      const grant = { method: 'GET', kind: 'artifact-manifests', id: req.artifact_id, name: '' } as const
      await signedUrls.check(grant, req)
      const version = await queries.findVersion(control, req.artifact_id)
      if (version?.state !== 'COMMITTED') throw notFound('artifact version', req.artifact_id)
      const files = await queries.listFiles(control, [version.id])
      return { headers: { 'content-type': 'application/json' }, body: writeManifest(files) }
    },
  }
}
