import { type Place, requireRight } from '../../access.ts'
import type { Content } from '../../contents/content.ts'
import type { Contents } from '../../contents/service.ts'
import { invalidRequest, notAllowed, notFound } from '../../errors.ts'
import { type CallContext, countedUpload } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Objects } from '../../trace/objects/service.ts'
import type { Tables } from '../../trace/tables/service.ts'
import type { Artifacts } from '../../tracking/artifacts/service.ts'
import { checkedLines, requireConversation, withConversation } from './checked-lines.ts'
import { datasetLines } from './dataset-lines.ts'
import { FILE_PREFIX, readImport } from './imports.ts'
import * as queries from './queries.ts'
import type { TrainingDataDeleteRes, UploadRes } from './wire.ts'

/** A few million conversations. */
const UPLOAD_BYTES_MAX = 4 * 1024 * 1024 * 1024

/** Of uploads from before their entities were recorded. */
const NOWHERE: Place = { entity: '' }

const UPLOAD_PREFIX = 'heddle-upload:///'
const ARTIFACT_PREFIX = 'wandb-artifact:///'
const DATASET_PREFIX = 'weave:///'

/** Wire: clients upload `train.jsonl`; the published description speaks of `trajectories.jsonl`. */
const FILE_NAMES = ['train.jsonl', 'trajectories.jsonl']

/** The training data of a job, and its version of a dataset, if any. */
interface TakenData extends Content {
  dataset_ref: string | null
}

export interface TrainingDataDeps {
  control: ControlDb
  contents: Contents
  artifacts: Artifacts
  objects: Pick<Objects, 'read'>
  tables: Pick<Tables, 'queryStream'>
  /** `file://` URLs may name files below its folder for imports. */
  dataFolder: string
}

/** Training data of SFT jobs: one conversation a line. */
export interface TrainingData {
  /**
   * Stores an upload.
   * @throws 422 that names the invalid line; 400 without one, 402 without room, 413. Nothing of a refused upload is
   * kept.
   */
  upload(req: { stream: ReadableStream<Uint8Array> }, context: CallContext): Promise<UploadRes>
  /** Deletes an upload; jobs that use it keep it. */
  delete(req: { training_data_id: string }): Promise<TrainingDataDeleteRes>
  /** Bytes of the uploads of an entity. */
  storedBy(entity: string): Promise<number>
  /** Removes what a crash has left of uploads that began before a time, in milliseconds since 1970. */
  sweep(before: number): Promise<void>
  /** Whose an upload is; undefined for an id that no upload has. */
  placeOf(id: string): Promise<Place | undefined>
  /**
   * Makes `owner` an owner of the data of a URL.
   * @throws 404 for unknown data, 400 for another kind of URL or without a conversation
   */
  take(url: string, owner: string, context: CallContext): Promise<TakenData>
}

export function createTrainingData(deps: TrainingDataDeps): TrainingData {
  const { control, contents, artifacts, dataFolder } = deps

  async function fromUpload(url: string, { caller }: CallContext): Promise<Content> {
    const id = url.slice(UPLOAD_PREFIX.length)
    const place = await placeOf(id)
    const [content] = await contents.ownedBy(ownerOf(id))
    if (content === undefined || !caller.rights.allows('read', place ?? NOWHERE))
      throw notFound('training data', url, { param: 'training_data_url' })
    return content
  }

  async function fromArtifact(url: string, { caller }: CallContext): Promise<Content> {
    const found = /^([^/:]+)\/([^/:]+)\/([^/:]+)(?::([^/:]+))?$/.exec(url.slice(ARTIFACT_PREFIX.length))
    const [, entity, project, name, alias = 'latest'] = found ?? []
    if (entity === undefined || project === undefined || name === undefined) throw badUrl(url)
    requireRight(caller.rights, 'read', { entity, project })
    const version = await artifacts.resolve({ entity, project, name, alias })
    if (version === undefined || !caller.rights.allows('read', version))
      throw notFound('artifact', url, { param: 'training_data_url' })
    return linesIn(version.files)
  }

  async function placeOf(id: string): Promise<Place | undefined> {
    const row = await queries.findUpload(control, id)
    return row && { entity: row.entity, project: row.project ?? undefined }
  }

  async function upload({ stream }: { stream: ReadableStream<Uint8Array> }, context: CallContext) {
    const { user, defaultEntity: entity, rights } = context.caller
    requireRight(rights, 'write', { entity, project: rights.project })
    const id = newId()
    const lines = checkedLines(countedUpload(stream, entity, context))
    const { size } = await contents.add(ownerOf(id), lines.bytes(), { bytesMax: UPLOAD_BYTES_MAX })
    await queries.insertUpload(control, {
      id,
      entity,
      project: rights.project ?? null,
      created_by: user,
      created_at: nowIso(),
    })
    return { id, training_data_url: UPLOAD_PREFIX + id, lines: lines.count(), bytes: size }
  }

  async function remove({ training_data_id }: { training_data_id: string }) {
    const owned = await contents.ownedBy(ownerOf(training_data_id))
    await contents.release([ownerOf(training_data_id)])
    await queries.deleteUpload(control, training_data_id)
    return { deleted: owned.length > 0 }
  }

  async function take(url: string, owner: string, context: CallContext): Promise<TakenData> {
    if (url.startsWith(FILE_PREFIX)) {
      if (!context.caller.rights.isOperator)
        throw notAllowed('Only operators train on files of the server: upload the data instead')
      const bytes = await readImport(dataFolder, url)
      const bytesMax = Number.POSITIVE_INFINITY
      const content = await contents.add(owner, withConversation(bytes), { bytesMax })
      return { ...content, dataset_ref: null }
    }
    if (url.startsWith(DATASET_PREFIX)) {
      const { ref, bytes } = await datasetLines(deps, url, context)
      const content = await contents.add(owner, withConversation(bytes()), { bytesMax: UPLOAD_BYTES_MAX })
      return { ...content, dataset_ref: ref }
    }
    const isUpload = url.startsWith(UPLOAD_PREFIX)
    if (!isUpload && !url.startsWith(ARTIFACT_PREFIX)) throw badUrl(url)
    const content = await (isUpload ? fromUpload(url, context) : fromArtifact(url, context))
    const opened = await contents.open(content.digest)
    if (opened !== undefined) await requireConversation(opened.bytes)
    await control.transaction().execute((tx) => contents.share(tx, owner, [content.digest]))
    return { ...content, dataset_ref: null }
  }

  return {
    upload,
    delete: remove,
    sweep: (before) => contents.releaseLeftovers(OWNER_PREFIX, before, queries.selectIds(control)),
    placeOf,
    storedBy: (entity) => queries.sumOfEntity(control, entity, OWNER_PREFIX),
    take,
  }
}

const OWNER_PREFIX = 'upload:'

function ownerOf(uploadId: string): string {
  return OWNER_PREFIX + uploadId
}

/** The file with the conversations of an artifact. @throws 400 where none is chosen by its name */
function linesIn<File extends { name: string }>(files: readonly File[]): File {
  const lines = files.filter((file) => file.name.endsWith('.jsonl'))
  const named = FILE_NAMES.flatMap((wanted) => lines.filter((file) => file.name === wanted))
  const chosen = named[0] ?? (lines.length === 1 ? lines[0] : undefined)
  if (chosen !== undefined) return chosen
  const names = files.map((file) => file.name).slice(0, 20)
  throw invalidRequest(
    `The artifact has neither ${FILE_NAMES.join(' nor ')} nor a single .jsonl file, but: ${names.join(', ')}`,
    'training_data_url',
  )
}

function badUrl(url: string): Error {
  return invalidRequest(
    `training_data_url is ${ARTIFACT_PREFIX}entity/project/name:alias, ${DATASET_PREFIX}entity/project/object/dataset:digest, ${FILE_PREFIX}/path or what an upload returned, not ${url}`,
    'training_data_url',
  )
}
