import type { Contents } from '../../contents/service.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import { type CallContext, countedUpload } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { yielding } from '../../yielding.ts'
import { checkListed } from '../listed-names.ts'
import { receive } from '../receive.ts'
import { sendFile } from '../send-file.ts'
import type { Signature, SignedUrls } from '../signed-urls.ts'
import {
  countFiles,
  deleteFile,
  findFile,
  findRunById,
  pageFiles,
  putFile,
  type RunFileRow,
  type RunRow,
  selectOwnerIds,
  sumOfEntity,
} from './queries.ts'
import type { RunFileName } from './run-file-id.ts'
import type { RunFileUploadRes } from './wire.ts'

/** Logs, code and media of a run; larger files belong in an artifact. */
const FILE_BYTES_MAX = 4 * 1024 ** 3

/**
 * Files of one request for URLs. Wire: clients ask for all that a pattern of `wandb.save` finds at once, and upload
 * none after an error; the reply for so many has some 30 MB.
 */
const FILES_MAX = 100_000

/** As long as a path may be. */
const NAME_CHARS_MAX = 1_024

/** Owners of bytes of files; each file that is uploaded has one of its own. */
const OWNER_PREFIX = 'run-file:'

export interface RunFilesDeps {
  control: ControlDb
  contents: Contents
  signedUrls: SignedUrls
}

export interface FilesPage {
  run_id: string
  names: readonly string[]
  pattern: string | undefined
  after: string
  limit: number
}

/** Files that belong to a run; one of the same name replaces the one before. */
export interface RunFiles {
  /** URLs for uploads. @throws 400 for invalid names of files. */
  uploadUrls(
    run: RunRow,
    names: readonly string[],
    context: CallContext,
  ): Promise<{ name: string; uploadUrl: string }[]>
  downloadUrl(file: { run_id: string; name: string }, context: CallContext): Promise<string>
  countFiles(runId: string): Promise<number>
  /** Bytes of the files of all runs of an entity. */
  storedBy(entity: string): Promise<number>
  /** Files by name; a pattern is one of SQL's LIKE. @throws 400 for too many names. */
  pageOfFiles(page: FilesPage): Promise<RunFileRow[]>
  /** Stores the bytes of a file. @throws 402 without room, 403, 404 for a deleted run, 413. */
  receiveFile(
    req: { run_id: string; name: string; stream: ReadableStream<Uint8Array> } & Signature,
    context: CallContext,
  ): Promise<RunFileUploadRes>
  /** Sends a file for its signed URL. @throws 403, 404. */
  signedFile(req: { run_id: string; name: string } & Signature, context: CallContext): Promise<RawReply>
  /** Deletes files and releases their bytes; absent ones are no error. @throws 400 for too many. */
  deleteFiles(files: readonly RunFileName[]): Promise<void>
  /**
   * Releases leftovers of a crash: bytes that were uploaded before a time, in milliseconds since 1970, and whose file
   * was replaced or deleted.
   */
  cleanUp(before: number): Promise<void>
}

export function createRunFiles({ control, contents, signedUrls }: RunFilesDeps): RunFiles {
  async function uploadUrls(
    run: RunRow,
    names: readonly string[],
    context: CallContext,
  ): Promise<{ name: string; uploadUrl: string }[]> {
    if (names.length > FILES_MAX) throw invalidRequest(`Ask for ${FILES_MAX} files at once at most`)
    const bad = names.find((name) => name === '' || name.length > NAME_CHARS_MAX)
    if (bad !== undefined) throw invalidRequest(`The name of a file has 1 to ${NAME_CHARS_MAX} characters`)
    const urlOf = (name: string): Promise<string> =>
      signedUrls.make({ method: 'PUT', kind: 'run-files', id: run.id, name }, context)
    const files: { name: string; uploadUrl: string }[] = []
    for await (const name of yielding(names)) files.push({ name, uploadUrl: await urlOf(name) })
    return files
  }

  async function receiveFile(
    req: { run_id: string; name: string; stream: ReadableStream<Uint8Array> } & Signature,
    context: CallContext,
  ) {
    const { run_id, name } = req
    await signedUrls.check({ method: 'PUT', kind: 'run-files', id: run_id, name }, req)
    const run = await findRunById(control, run_id)
    if (run === undefined) throw notFound('run', run_id)
    const bytes = countedUpload(req.stream, run.entity, context)
    const owner = OWNER_PREFIX + newId()
    const expected = { bytesMax: FILE_BYTES_MAX, md5: context.header('content-md5') }
    const before: string[] = []
    await receive({ control, contents }, bytes, expected, async (tx, content) => {
      if ((await findRunById(tx, run_id)) === undefined) throw notFound('run', run_id)
      await contents.share(tx, owner, [content.digest])
      const replaced = await putFile(tx, { run_id, name, ...content, owner, updated_at: nowIso() })
      if (replaced !== undefined) before.push(replaced)
    })
    await contents.release(before)
    return {}
  }

  async function signedFile(req: { run_id: string; name: string } & Signature, context: CallContext) {
    const { run_id, name } = req
    await signedUrls.check({ method: 'GET', kind: 'run-files', id: run_id, name }, req)
    const file = await findFile(control, run_id, name)
    const reply = file && (await sendFile(contents, { ...file, range: context.header('range') }))
    if (reply === undefined) throw notFound('run file', name)
    return reply
  }

  async function deleteFiles(files: readonly RunFileName[]): Promise<void> {
    checkListed(files.map((file) => file.name))
    const owners = await control.transaction().execute(async (tx) => {
      const gone: string[] = []
      for (const file of files) gone.push(...(await deleteFile(tx, file)))
      return gone
    })
    await contents.release(owners)
  }

  return {
    uploadUrls,
    downloadUrl: (file, context) =>
      signedUrls.make({ method: 'GET', kind: 'run-files', id: file.run_id, name: file.name }, context),
    countFiles: (runId) => countFiles(control, runId),
    storedBy: (entity) => sumOfEntity(control, entity),
    async pageOfFiles(page) {
      checkListed(page.names)
      return pageFiles(control, page)
    },
    receiveFile,
    deleteFiles,
    signedFile,
    cleanUp: (before) =>
      contents.releaseLeftovers(OWNER_PREFIX, before, selectOwnerIds(control, OWNER_PREFIX)),
  }
}
