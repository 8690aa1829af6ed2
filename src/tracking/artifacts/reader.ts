import { plainId } from '../../accounts/graphql/global-id.ts'
import type { Contents } from '../../contents/service.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { pagesByName } from '../pages-by-name.ts'
import { sendFile, sendFileDirectly } from '../send-file.ts'
import type { Signature, SignedUrls } from '../signed-urls.ts'
import { type CollectionName, findCollection } from './collection-queries.ts'
import { manifestText } from './manifest.ts'
import { type Member, memberOf } from './members.ts'
import * as queries from './queries.ts'
import { type ArtifactVersion, loadVersions } from './versions.ts'

export interface Wanted extends CollectionName {
  type?: string | undefined
  /** `latest`, `v3` or any alias. */
  alias: string
}

export interface ArtifactReaderDeps {
  control: ControlDb
  contents: Contents
  signedUrls: SignedUrls
}

/** Reads versions. */
export interface ArtifactReader {
  /** Resolves a reference: a version of a sequence, or one in a portfolio. */
  member(wanted: Wanted): Promise<Member | undefined>
  /** A committed version that is not deleted; undefined when the name is unknown. */
  resolve(wanted: Wanted): Promise<ArtifactVersion | undefined>
  /** Sends a file to a caller with a key. @throws 404. */
  file(req: { artifact_id: string; name: string }, context: CallContext): Promise<RawReply>
  /** Sends a file of a version by its MD5. @throws 404. */
  fileByMd5(
    req: { birth_artifact_id: string; md5_hex: string; name: string },
    context: CallContext,
  ): Promise<RawReply>
  /** Sends a file for its signed URL. @throws 403, 404. */
  signedFile(req: { artifact_id: string; name: string } & Signature, context: CallContext): Promise<RawReply>
  /** Sends a version's manifest for its signed URL. @throws 403, 404. */
  signedManifest(req: { artifact_id: string } & Signature): Promise<RawReply>
}

export function createArtifactReader({ control, contents, signedUrls }: ArtifactReaderDeps): ArtifactReader {
  async function member(wanted: Wanted): Promise<Member | undefined> {
    const collection = await findCollection(control, wanted)
    if (collection === undefined) return undefined
    if (wanted.type !== undefined && wanted.type !== collection.type) return undefined
    return memberOf(control, collection, wanted.alias)
  }

  async function send(
    wanted: { id: string; name: string },
    file: queries.FileRow | undefined,
    context: CallContext,
    how: typeof sendFileDirectly = sendFile,
  ): Promise<RawReply> {
    const version = await queries.findVersion(control, wanted.id)
    const digest = version?.state === 'COMMITTED' ? file?.digest : undefined
    const range = context.header('range')
    const reply = digest == null ? undefined : await how(contents, { digest, size: file?.size ?? 0, range })
    if (reply === undefined) throw notFound('artifact file', wanted.name)
    return reply
  }

  async function resolve(wanted: Wanted): Promise<ArtifactVersion | undefined> {
    const found = await member(wanted)
    const [version] = found === undefined ? [] : await loadVersions(control, [found.version])
    return version
  }

  async function file(
    { artifact_id: id, name }: { artifact_id: string; name: string },
    context: CallContext,
  ) {
    return send({ id, name }, await queries.findFile(control, id, name), context)
  }

  async function fileByMd5(
    req: { birth_artifact_id: string; md5_hex: string; name: string },
    context: CallContext,
  ): Promise<RawReply> {
    const id = plainId('Artifact', req.birth_artifact_id)
    const md5 = Buffer.from(req.md5_hex, 'hex').toString('base64')
    return send({ id, name: req.name }, await queries.findFileByMd5(control, id, md5), context)
  }

  async function signedFile(req: { artifact_id: string; name: string } & Signature, context: CallContext) {
    const { artifact_id: id, name } = req
    await signedUrls.check({ method: 'GET', kind: 'artifact-files', id, name }, req)
    return send({ id, name }, await queries.findFile(control, id, name), context, sendFileDirectly)
  }

  async function signedManifest(req: { artifact_id: string } & Signature): Promise<RawReply> {
    const grant = { method: 'GET', kind: 'artifact-manifests', id: req.artifact_id, name: '' } as const
    await signedUrls.check(grant, req)
    const version = await queries.findVersion(control, req.artifact_id)
    if (version?.state !== 'COMMITTED') throw notFound('artifact version', req.artifact_id)
    const every = { artifact_id: version.id, names: [], limit: queries.ROWS_PER_STATEMENT }
    const pages = pagesByName((after) => queries.pageFiles(control, { ...every, after }))
    const text = manifestText(version.id, pages)
    const body = ReadableStream.from(text).pipeThrough(new TextEncoderStream())
    return { headers: { 'content-type': 'application/json' }, body }
  }

  return { member, resolve, file, fileByMd5, signedFile, signedManifest }
}
