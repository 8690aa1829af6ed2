import { realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Content, Contents } from '../../contents.ts'
import { invalidRequest, messageOf, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import type { Objects } from '../../trace/objects/service.ts'
import type { Tables } from '../../trace/tables/service.ts'
import type { Artifacts } from '../../tracking/artifacts/service.ts'
import { checkedLines } from './checked-lines.ts'
import { datasetLines } from './dataset-lines.ts'

/** A few million conversations. */
const UPLOAD_BYTES_MAX = 4 * 1024 * 1024 * 1024

const UPLOAD_PREFIX = 'heddle-upload:///'
const ARTIFACT_PREFIX = 'wandb-artifact:///'
const FILE_PREFIX = 'file://'
const DATASET_PREFIX = 'weave:///'

/** Files that people put there may be trained on; the data folder's other files are the server's own. */
const IMPORTS_FOLDER = 'imports'

/** Wire: clients upload `train.jsonl`; the published description speaks of `trajectories.jsonl`. */
const FILE_NAMES = ['train.jsonl', 'trajectories.jsonl']

/** What a job trains on, and the version of a dataset that it is, if it is one. */
interface TakenData extends Content {
  dataset_ref: string | null
}

export type TrainingData = ReturnType<typeof createTrainingData>

export interface TrainingDataDeps {
  control: ControlDb
  contents: Contents
  artifacts: Artifacts
  objects: Pick<Objects, 'read'>
  tables: Pick<Tables, 'queryStream'>
  /** `file://` URLs may name files below its folder for imports. */
  dataFolder: string
}

/** What SFT jobs train on: one conversation a line. */
export function createTrainingData(deps: TrainingDataDeps) {
  const { control, contents, artifacts, dataFolder } = deps

  async function fromUpload(url: string): Promise<Content> {
    const [content] = await contents.ownedBy(ownerOf(url.slice(UPLOAD_PREFIX.length)))
    if (content === undefined) throw notFound('training data', url, { param: 'training_data_url' })
    return content
  }

  async function fromArtifact(url: string): Promise<Content> {
    const found = /^([^/:]+)\/([^/:]+)\/([^/:]+)(?::([^/:]+))?$/.exec(url.slice(ARTIFACT_PREFIX.length))
    const [, entity, project, name, alias = 'latest'] = found ?? []
    if (entity === undefined || project === undefined || name === undefined) throw badUrl(url)
    const version = await artifacts.resolve({ entity, project, name, alias })
    if (version === undefined) throw notFound('artifact', url, { param: 'training_data_url' })
    const lines = version.files.filter((file) => file.name.endsWith('.jsonl'))
    const named = FILE_NAMES.flatMap((wanted) => lines.filter((file) => file.name === wanted))
    const chosen = named[0] ?? (lines.length === 1 ? lines[0] : undefined)
    if (chosen !== undefined) return chosen
    const names = version.files.map((file) => file.name).slice(0, 20)
    throw invalidRequest(
      `The artifact has neither ${FILE_NAMES.join(' nor ')} nor a single .jsonl file, but: ${names.join(', ')}`,
      'training_data_url',
    )
  }

  /** @throws 400 for a path outside the folder for imports, whether anything is there or not, and whatever links lead there. */
  async function fromFile(url: string, owner: string): Promise<Content> {
    const named = pathOf(url)
    const folder = join(dataFolder, IMPORTS_FOLDER)
    if (!isBelow(folder, named)) throw outside()
    const path = await realpath(named).catch(() => undefined)
    if (path === undefined) throw notFound('file', url, { param: 'training_data_url' })
    if (!isBelow(await realpath(folder), path) || !(await stat(path)).isFile()) throw outside()
    return contents.addFile(owner, path)
  }

  return {
    /** Keeps an upload. @throws 422 that names the line at fault; 413. Of a refused upload nothing stays. */
    async upload({ stream }: { stream: ReadableStream<Uint8Array> }) {
      const id = newId()
      const lines = checkedLines(stream)
      const { size } = await contents.add(ownerOf(id), lines.bytes(), { bytesMax: UPLOAD_BYTES_MAX })
      return { id, training_data_url: UPLOAD_PREFIX + id, lines: lines.count(), bytes: size }
    },

    /** Forgets an upload; jobs that have it already keep it. */
    async delete({ training_data_id }: { training_data_id: string }) {
      const owned = await contents.ownedBy(ownerOf(training_data_id))
      await contents.release([ownerOf(training_data_id)])
      return { deleted: owned.length > 0 }
    },

    /** Makes `owner` an owner of what a URL names. @throws 404 for what is not there, 400 for another kind of URL. */
    async take(url: string, owner: string, context: CallContext): Promise<TakenData> {
      if (url.startsWith(FILE_PREFIX)) return { ...(await fromFile(url, owner)), dataset_ref: null }
      if (url.startsWith(DATASET_PREFIX)) {
        const { ref, bytes } = await datasetLines(deps, url, context)
        const content = await contents.add(owner, bytes(), { bytesMax: UPLOAD_BYTES_MAX })
        return { ...content, dataset_ref: ref }
      }
      const isUpload = url.startsWith(UPLOAD_PREFIX)
      if (!isUpload && !url.startsWith(ARTIFACT_PREFIX)) throw badUrl(url)
      const content = await (isUpload ? fromUpload(url) : fromArtifact(url))
      await control.transaction().execute((tx) => contents.share(tx, owner, [content.digest]))
      return { ...content, dataset_ref: null }
    },
  }
}

/** A name below a folder, as it is written. */
function isBelow(folder: string, path: string): boolean {
  return resolve(path).startsWith(resolve(folder) + sep)
}

function outside(): Error {
  return invalidRequest(
    `${FILE_PREFIX} URLs name files in the folder "${IMPORTS_FOLDER}" of the data folder: whoever owns this server can put some there`,
    'training_data_url',
  )
}

function ownerOf(uploadId: string): string {
  return `upload:${uploadId}`
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw invalidRequest(`${messageOf(error)}: ${url}`, 'training_data_url')
  }
}

function badUrl(url: string): Error {
  return invalidRequest(
    `training_data_url is ${ARTIFACT_PREFIX}entity/project/name:alias, ${DATASET_PREFIX}entity/project/object/dataset:digest, ${FILE_PREFIX}/path or what an upload returned, not ${url}`,
    'training_data_url',
  )
}
