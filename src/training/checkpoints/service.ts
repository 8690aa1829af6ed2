import { newId } from '../../ids.ts'
import { CommitInDoubt } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { CheckpointsDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type CheckpointReader, createCheckpointReader } from './reader.ts'
import {
  type Merged,
  type ModelOfCheckpoints,
  mergedOf,
  metricsOf,
  OWNER_PREFIX,
  type StoredCheckpoint,
  stored,
} from './rows.ts'
import type { CheckpointsDeleteReq, CheckpointsDeleteRes, TagsRes } from './wire.ts'
import { type CheckpointWriter, createCheckpointWriter } from './writer.ts'

type TagChange = { set: string } | { remove: string }

/** A checkpoint, and its merged model where that was made. */
interface MaybeMerged {
  checkpoint: StoredCheckpoint
  merged: Merged | null
}

/** Steps of models: listed, tagged, deleted, never renumbered, never used twice. */
export interface Checkpoints extends CheckpointReader, CheckpointWriter {
  /** Adds metrics to the newest checkpoint; later values of a name win. Returns its step. */
  addMetrics(modelId: string, metrics: Record<string, number>): Promise<number | undefined>
  /** Tags of a checkpoint; a tag moves from its previous one. @throws 404 */
  tag(model: ModelOfCheckpoints, text: string, change: TagChange): Promise<TagsRes>
  /** A checkpoint and its merged files, if any. @throws 404 */
  withMerged(model: ModelOfCheckpoints, text: string): Promise<MaybeMerged>
  /** Stores the files of a folder as the merged model of a checkpoint. */
  addMerged(id: string, made: { folder: string; logprob_gap_max: number }): Promise<void>
  /** Bytes of the checkpoints and merged models of an entity, beyond those of their artifacts. */
  storedBy(entity: string): Promise<number>
  /** Deletes steps. Wire: a retried DELETE finds its steps gone and still succeeds. */
  delete(req: CheckpointsDeleteReq & { model_id: string }): Promise<CheckpointsDeleteRes>
  /** Deletes all checkpoints of a model. */
  deleteAll(modelId: string): Promise<number>
  /**
   * Removes leftovers of a crash: checkpoints of deleted models, artifacts of deleted checkpoints, and files of
   * checkpoints that were begun before a time, in milliseconds since 1970, and never written.
   */
  sweep(before: number): Promise<void>
}

export function createCheckpoints(deps: CheckpointsDeps): Checkpoints {
  const { control, contents, artifacts, files } = deps
  const reader = createCheckpointReader(deps)

  async function deleteSteps(model_id: string, steps: readonly number[] | 'all'): Promise<Set<number>> {
    const rows = await queries.markDeleted(control, { model_id, steps, deleted_at: nowIso() })
    await artifacts.removeVersions(rows.map((row) => row.artifact_id))
    await contents.release(rows.map((row) => OWNER_PREFIX + row.id))
    await removeUnusedAdapters(new Set(rows.map((row) => row.adapter_digest)))
    return new Set(rows.map((row) => row.step))
  }

  /** Adapters whose last checkpoint is gone are not served any more, and their files are links that keep the bytes. */
  async function removeUnusedAdapters(digests: ReadonlySet<string>): Promise<void> {
    for (const digest of digests) {
      const live = await queries.findByDigests(control, [digest])
      if (live.length === 0) await files.removeAdapterFolder(digest)
    }
  }

  function addMetrics(modelId: string, metrics: Record<string, number>): Promise<number | undefined> {
    return control.transaction().execute(async (tx) => {
      const row = await queries.findNewest(tx, modelId)
      if (row === undefined) return undefined
      await queries.setMetrics(tx, row.id, JSON.stringify({ ...metricsOf(row), ...metrics }))
      return row.step
    })
  }

  async function tag(model: ModelOfCheckpoints, text: string, change: TagChange) {
    const { artifact_id: id, step } = await reader.existingRow(model, text)
    if ('set' in change) await artifacts.setAliases(id, [{ alias: change.set }])
    else await artifacts.removeAliases(id, [{ alias: change.remove }])
    const { tags } = await reader.read(model, String(step))
    return { tags }
  }

  async function withMerged(model: ModelOfCheckpoints, text: string) {
    const row = await reader.existingRow(model, text)
    return { checkpoint: stored(row), merged: mergedOf(row) }
  }

  async function addMerged(id: string, made: { folder: string; logprob_gap_max: number }): Promise<void> {
    // Files that are not all stored have an owner that is no checkpoint, so that they are removed, if need be by the
    // sweep.
    const storing = OWNER_PREFIX + newId()
    let isInDoubt = false
    try {
      const manifest = await files.store(storing, made.folder)
      const merged: Merged = { manifest, logprob_gap_max: made.logprob_gap_max }
      const digests = manifest.map(({ digest }) => digest)
      await control.transaction().execute(async (tx) => {
        const isLive = await queries.setMerged(tx, id, JSON.stringify(merged))
        if (isLive) await contents.share(tx, OWNER_PREFIX + id, digests)
      })
    } catch (error) {
      isInDoubt = error instanceof CommitInDoubt
      throw error
    } finally {
      if (!isInDoubt) await contents.release([storing])
    }
  }

  async function remove(req: CheckpointsDeleteReq & { model_id: string }) {
    const steps = [...new Set(req.steps)]
    const gone = await deleteSteps(req.model_id, steps)
    return { deleted_count: gone.size, not_found_steps: steps.filter((step) => !gone.has(step)) }
  }

  async function sweep(before: number): Promise<void> {
    await queries.markLeftBehind(control, nowIso())
    await artifacts.removeVersions(await queries.artifactsLeftBehind(control))
    await contents.releaseLeftovers(OWNER_PREFIX, before, queries.selectLiveIds(control))
  }

  return {
    ...reader,
    ...createCheckpointWriter(deps),
    addMetrics,
    tag,
    withMerged,
    addMerged,
    storedBy: (entity) => queries.sumOfEntity(control, entity, OWNER_PREFIX),
    delete: remove,
    deleteAll: async (modelId) => (await deleteSteps(modelId, 'all')).size,
    sweep,
  }
}
