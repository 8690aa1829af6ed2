import type { z } from 'zod'
import { notFound } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { sendFile } from '../../tracking/send-file.ts'
import { toPage } from '../../wire/page-wire.ts'
import { type ManifestEntry, parseManifest } from '../checkpoint-files/checkpoint-files.ts'
import { createBestSteps } from './best-steps.ts'
import type { CheckpointsDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type ModelOfCheckpoints, mergedOf, metricsOf, type StoredCheckpoint, stored } from './rows.ts'
import { parseSelector } from './selector.ts'
import type {
  Checkpoint,
  CheckpointFilePath,
  CheckpointRes,
  CheckpointsListQuery,
  CheckpointsListRes,
} from './wire.ts'

/** Finds and describes checkpoints. */
export interface CheckpointReader {
  /** A live checkpoint by step, `latest`, `best`, version or tag. @throws 404 */
  existingRow(model: ModelOfCheckpoints, text: string): Promise<queries.CheckpointRow>
  /** The same, or undefined. */
  find(model: ModelOfCheckpoints, text: string): Promise<StoredCheckpoint | undefined>
  /** The checkpoint with the highest step, also within a transaction. */
  newest(modelId: string, tx?: ControlTx): Promise<StoredCheckpoint | undefined>
  /** The checkpoint that was the newest at a step; the oldest, where all of those were deleted. */
  newestAt(modelId: string, step: number): Promise<StoredCheckpoint | undefined>
  /** A checkpoint by id, deleted ones included, whose files may be gone. */
  byId(id: string): Promise<StoredCheckpoint | undefined>
  /** How many live checkpoints each of some models has, and the highest step. */
  countSteps(modelIds: readonly string[]): Promise<queries.StepsRow[]>
  /** The live steps whose adapter is one of these. */
  withAdapters(digests: readonly string[]): Promise<queries.LiveStep[]>
  /** A page of live checkpoints by step. @throws 404 for an unknown cursor. */
  list(req: CheckpointsListQuery & { model_id: string }): Promise<CheckpointsListRes>
  /** One checkpoint with its files. @throws 404 */
  read(model: ModelOfCheckpoints, text: string): Promise<CheckpointRes>
  /** The bytes of a file of a checkpoint, or of its merged model. @throws 404 */
  download(
    model: ModelOfCheckpoints,
    req: CheckpointFilePath,
    from: { part: 'checkpoint' | 'merged'; range: string | undefined },
  ): Promise<RawReply>
}

export function createCheckpointReader({ control, contents, artifacts }: CheckpointsDeps): CheckpointReader {
  const bestSteps = createBestSteps(control)

  async function findRow(model: ModelOfCheckpoints, text: string) {
    const selector = parseSelector(text)
    if (selector === 'latest') return queries.findNewest(control, model.id)
    if (selector === 'best') {
      const step = await bestSteps(model)
      return step === undefined ? undefined : queries.findStep(control, { model_id: model.id, step })
    }
    if (typeof selector === 'number') return queries.findStep(control, { model_id: model.id, step: selector })
    const { entity, project, name } = model
    const version = await artifacts.resolve({ entity, project, name, type: 'lora', alias: selector.alias })
    if (version === undefined) return undefined
    return queries.findByArtifact(control, { model_id: model.id, artifact_id: version.id })
  }

  async function existingRow(model: ModelOfCheckpoints, text: string): Promise<queries.CheckpointRow> {
    const row = await findRow(model, text)
    if (row === undefined) throw notFound('checkpoint', text)
    return row
  }

  async function find(model: ModelOfCheckpoints, text: string): Promise<StoredCheckpoint | undefined> {
    const row = await findRow(model, text)
    return row && stored(row)
  }

  async function newest(modelId: string, tx: ControlTx = control): Promise<StoredCheckpoint | undefined> {
    const row = await queries.findNewest(tx, modelId)
    return row && stored(row)
  }

  async function newestAt(modelId: string, step: number): Promise<StoredCheckpoint | undefined> {
    const row = await queries.findNewestAt(control, { model_id: modelId, step })
    return row && stored(row)
  }

  async function byId(id: string): Promise<StoredCheckpoint | undefined> {
    const row = await queries.findCheckpoint(control, id)
    return row && stored(row)
  }

  async function list(req: CheckpointsListQuery & { model_id: string }) {
    const cursor = req.after === undefined ? undefined : await queries.findCheckpoint(control, req.after)
    if (req.after !== undefined && cursor?.model_id !== req.model_id) throw notFound('checkpoint', req.after)
    const { model_id, order } = req
    const page = { model_id, afterStep: cursor?.step, order, limit: req.limit + 1 }
    const rows = await queries.listCheckpoints(control, page)
    const aliases = await artifacts.aliasesOf(rows.map((row) => row.artifact_id))
    const items = rows.map((row) => shown(row, aliases))
    return toPage(items, req.limit)
  }

  async function read(model: ModelOfCheckpoints, text: string): Promise<CheckpointRes> {
    const row = await existingRow(model, text)
    const merged = mergedOf(row)
    return {
      ...shown(row, await artifacts.aliasesOf([row.artifact_id])),
      adapter_digest: row.adapter_digest,
      files: parseManifest(row.manifest).map(shownFile),
      merged: merged && {
        logprob_gap_max: merged.logprob_gap_max,
        files: merged.manifest.map(shownFile),
      },
    }
  }

  async function download(
    model: ModelOfCheckpoints,
    req: CheckpointFilePath,
    from: { part: 'checkpoint' | 'merged'; range: string | undefined },
  ): Promise<RawReply> {
    const row = await existingRow(model, req.checkpoint)
    const manifest = from.part === 'merged' ? (mergedOf(row)?.manifest ?? []) : parseManifest(row.manifest)
    const file = manifest.find((entry) => entry.name === req.file)
    const reply = file && (await sendFile(contents, { ...file, range: from.range }))
    if (reply === undefined) throw notFound('file', req.file)
    return reply
  }

  return {
    existingRow,
    find,
    newest,
    newestAt,
    byId,
    countSteps: (modelIds) => queries.countSteps(control, modelIds),
    withAdapters: (digests) => queries.findByDigests(control, digests),
    list,
    read,
    download,
  }
}

/** `latest` follows from the order of steps, and `stepN` from the step, so only other aliases are tags. */
function shown(
  row: queries.CheckpointRow,
  aliases: ReadonlyMap<string, readonly string[]>,
): z.input<typeof Checkpoint> {
  const tags = (aliases.get(row.artifact_id) ?? []).filter((alias) => !/^(latest|step\d+)$/.test(alias))
  const { id, step, job_id, dataset_ref, created_at } = row
  return { id, step, metrics: metricsOf(row), tags, job_id, dataset_ref, created_at }
}

function shownFile({ name, size, digest }: ManifestEntry) {
  return { name, size, digest }
}
