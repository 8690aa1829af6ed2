import type { Projects } from '../../accounts/projects.ts'
import type { Contents } from '../../contents/service.ts'
import { conflict, invalidRequest, notFound, tooLarge } from '../../errors.ts'
import { type CallContext, countedUpload } from '../../http/caller.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { isoIn, nowIso } from '../../time.ts'
import { receive } from '../receive.ts'
import type { Signature, SignedUrls } from '../signed-urls.ts'
import { MANIFEST_BYTES_MAX } from './manifest.ts'
import { checkAliasCount } from './names.ts'
import * as queries from './queries.ts'
import type { UploadRes } from './wire.ts'
import { addAliases, ensureCollection, manifestOwnerOf, newVersion, ownerOf, ownersOf } from './writer.ts'

/** One file of an artifact: a merged model of 14 billion parameters in half precision takes 28 GB. */
const FILE_BYTES_MAX = 64 * 1024 ** 3

/** Files that one request announces. Wire: clients announce 10,000 at once at most. */
const ANNOUNCED_MAX = 10_000

/** Uploads for which nothing came for this long are abandoned: one file may take hours. */
const PENDING_MS_MAX = 24 * 3600 * 1000

/** A client's description of a version before any upload. */
export interface Draft {
  entity: string
  project: string
  name: string
  type: string
  digest: string
  aliases: readonly string[]
  /** JSON: an object. */
  metadata: string
  description: string | null
  tags: readonly string[]
  run_id: string | null
  /** What the client calls the version until it has an id. */
  client_id: string | null
  created_by: string
}

/** An announced file, with its bytes. */
interface FileUpload extends Signature {
  artifact_id: string
  name: string
  stream: ReadableStream<Uint8Array>
}

export interface UploadsDeps {
  control: ControlDb
  contents: Contents
  projects: Projects
  signedUrls: SignedUrls
  /** Whether versions of this type are also something else, so that each commit must make a new one. */
  isWatched: (type: string) => boolean
}

/** Uploads of versions by clients: first a draft, then its files, then its manifest; committer.ts does the rest. */
export interface Uploads {
  /**
   * Opens a version. Wire: a version with the digest of the newest one is the same version, and gets the aliases.
   * @throws 400 for too many aliases, 409 when the collection has another type.
   */
  create(draft: Draft): Promise<string>
  /** Announces files with their MD5s; files that were uploaded with the same MD5 stay. */
  announceFiles(id: string, files: readonly { name: string; md5: string }[]): Promise<void>
  /** Announces a manifest with its MD5; an empty one is not known yet, and the same again changes nothing. */
  announceManifest(id: string, md5: string): Promise<void>
  /** Stores the bytes of an announced file. @throws 400 for other bytes, 402 without room, 403, 404, 409, 413. */
  receiveFile(req: FileUpload, context: CallContext): Promise<UploadRes>
  /** Stores the bytes of an announced manifest. @throws 400 for other bytes, 403, 404, 409, 413. */
  receiveManifest(
    req: { artifact_id: string; stream: ReadableStream<Uint8Array> } & Signature,
  ): Promise<UploadRes>
  /** Deletes the pending versions for which nothing has come for long, and releases their bytes. */
  removeAbandoned(): Promise<void>
}

export function createUploads({ control, contents, projects, signedUrls, isWatched }: UploadsDeps): Uploads {
  async function pending(id: string, db: ControlTx = control): Promise<queries.VersionRow> {
    const row = await queries.findVersion(db, id)
    if (row === undefined) throw notFound('artifact version', id)
    if (row.state !== 'PENDING') throw conflict(`The artifact version ${id} is not open for uploads`)
    return row
  }

  async function create(draft: Draft): Promise<string> {
    checkAliasCount(draft.aliases)
    await projects.ensureById(`${draft.entity}/${draft.project}`)
    return control.transaction().execute(async (tx) => {
      const collection = await ensureCollection(tx, { ...draft, kind: 'sequence' })
      const newest = await queries.newestVersion(tx, collection.id)
      if (newest?.digest === draft.digest && !isWatched(draft.type)) {
        await addAliases(tx, newest.id, draft.aliases)
        if (draft.client_id !== null)
          await queries.updateVersion(tx, newest.id, { client_id: draft.client_id })
        return newest.id
      }
      const row = versionOfDraft(draft, collection.id)
      await queries.insertVersion(tx, row)
      return row.id
    })
  }

  async function announceFiles(id: string, files: readonly { name: string; md5: string }[]): Promise<void> {
    if (files.length > ANNOUNCED_MAX) throw tooLarge(`Announce ${ANNOUNCED_MAX} files at once at most`)
    // A statement changes each row once.
    const named = new Map(files.map((file) => [file.name, file]))
    await control.transaction().execute(async (tx) => {
      await pending(id, tx)
      await queries.announceFiles(tx, id, [...named.values()])
      await touch(tx, id)
    })
  }

  async function announceManifest(id: string, md5: string): Promise<void> {
    await control.transaction().execute(async (tx) => {
      const { manifest_md5 } = await pending(id, tx)
      // The same announcement again may be a late retry, after the manifest has been uploaded.
      if (md5 !== '' && md5 !== manifest_md5)
        await touch(tx, id, { manifest_md5: md5, manifest_digest: null })
    })
  }

  async function receiveFile(req: FileUpload, context: CallContext) {
    const { artifact_id: id, name } = req
    await signedUrls.check({ method: 'PUT', kind: 'artifact-files', id, name }, req)
    const { entity } = await pending(id)
    const announced = await queries.findFile(control, id, name)
    if (announced === undefined) throw notFound('announced artifact file', name)
    const bytes = countedUpload(req.stream, entity, context)
    const options = { bytesMax: FILE_BYTES_MAX, md5: announced.md5 }
    await receive({ control, contents }, bytes, options, async (tx, { digest, size }) => {
      await pending(id, tx)
      await contents.share(tx, ownerOf(id), [digest])
      await queries.putFiles(tx, [{ artifact_id: id, name, md5: announced.md5, digest, size }])
      await touch(tx, id)
    })
    return {}
  }

  async function receiveManifest(
    req: { artifact_id: string; stream: ReadableStream<Uint8Array> } & Signature,
  ) {
    const { artifact_id: id } = req
    await signedUrls.check({ method: 'PUT', kind: 'artifact-manifests', id, name: '' }, req)
    const { manifest_md5 } = await pending(id)
    if (manifest_md5 === null) throw invalidRequest('No manifest has been announced with its digest')
    const options = { bytesMax: MANIFEST_BYTES_MAX, md5: manifest_md5 }
    await receive({ control, contents }, req.stream, options, async (tx, { digest }) => {
      await pending(id, tx)
      await contents.share(tx, manifestOwnerOf(id), [digest])
      await touch(tx, id, { manifest_digest: digest })
    })
    return {}
  }

  async function removeAbandoned(): Promise<void> {
    // One statement: other servers may commit versions, or receive files, meanwhile.
    const gone = await queries.markAbandoned(control, { before: isoIn(-PENDING_MS_MAX), at: nowIso() })
    await contents.release(ownersOf(gone))
  }

  return {
    create,
    announceFiles,
    announceManifest,
    receiveFile,
    receiveManifest,
    removeAbandoned,
  }
}

/** Changes a pending version, which then counts as not abandoned. */
function touch(
  tx: ControlTx,
  id: string,
  values: Parameters<typeof queries.updateVersion>[2] = {},
): Promise<void> {
  return queries.updateVersion(tx, id, { ...values, updated_at: nowIso() })
}

function versionOfDraft(draft: Draft, collection_id: string) {
  return newVersion({
    collection_id,
    digest: draft.digest,
    metadata: draft.metadata,
    description: draft.description,
    tags: JSON.stringify(draft.tags),
    wanted_aliases: JSON.stringify(draft.aliases),
    run_id: draft.run_id,
    client_id: draft.client_id,
    created_by: draft.created_by,
  })
}
