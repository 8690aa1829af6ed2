import { nowIso } from '../../time.ts'
import { createCheckpointAdding } from './adding.ts'
import type { CheckpointsDeps } from './deps.ts'
import * as queries from './queries.ts'
import { createCheckpointReading } from './reading.ts'
import { type Merged, type ModelOfCheckpoints, mergedOf, metricsOf, OWNER_PREFIX, stored } from './rows.ts'
import type { CheckpointsDeleteReq } from './wire.ts'

export type Checkpoints = ReturnType<typeof createCheckpoints>

/** Steps of models: listed, tagged, deleted, never renumbered, never used twice. */
export function createCheckpoints(deps: CheckpointsDeps) {
  const { control, contents, artifacts, files } = deps
  const reading = createCheckpointReading(deps)

  async function remove(model_id: string, steps: readonly number[] | 'all'): Promise<Set<number>> {
    const rows = await queries.markDeleted(control, { model_id, steps, deleted_at: nowIso() })
    await artifacts.removeVersions(rows.map((row) => row.artifact_id))
    await contents.release(rows.map((row) => OWNER_PREFIX + row.id))
    return new Set(rows.map((row) => row.step))
  }

  return {
    ...reading,
    ...createCheckpointAdding(deps),

    /** Adds metrics to the newest checkpoint; later values of a name win. Returns its step. */
    addMetrics(modelId: string, metrics: Record<string, number>): Promise<number | undefined> {
      return control.transaction().execute(async (tx) => {
        const row = await queries.findNewest(tx, modelId)
        if (row === undefined) return undefined
        await queries.setMetrics(tx, row.id, JSON.stringify({ ...metricsOf(row), ...metrics }))
        return row.step
      })
    },

    /** Tags of a checkpoint; a tag moves from its previous one. @throws 404 */
    async tag(model: ModelOfCheckpoints, text: string, change: { set: string } | { remove: string }) {
      const { artifact_id: id, step } = await reading.existingRow(model, text)
      if ('set' in change) await artifacts.setAlias({ id, alias: change.set })
      else await artifacts.removeAlias({ id, alias: change.remove })
      const { tags } = await reading.read(model, String(step))
      return { tags }
    },

    /** A checkpoint and its merged files, if any. @throws 404 */
    async withMerged(model: ModelOfCheckpoints, text: string) {
      const row = await reading.existingRow(model, text)
      return { checkpoint: stored(row), merged: mergedOf(row) }
    },

    /** Stores the files of a folder as the merged model of a checkpoint. */
    async addMerged(id: string, made: { folder: string; logprob_gap_max: number }): Promise<void> {
      const manifest = await files.store(OWNER_PREFIX + id, made.folder)
      const merged: Merged = { manifest, logprob_gap_max: made.logprob_gap_max }
      const isLive = await queries.setMerged(control, id, JSON.stringify(merged))
      if (!isLive) await contents.release([OWNER_PREFIX + id])
    },

    /** Deletes steps. Wire: a retried DELETE finds its steps gone and still succeeds. */
    async delete(req: CheckpointsDeleteReq & { model_id: string }) {
      const steps = [...new Set(req.steps)]
      const gone = await remove(req.model_id, steps)
      return { deleted_count: gone.size, not_found_steps: steps.filter((step) => !gone.has(step)) }
    },

    /** Deletes all checkpoints of a model. */
    deleteAll: async (modelId: string): Promise<number> => (await remove(modelId, 'all')).size,

    /**
     * Removes leftovers of a crash: checkpoints of deleted models, and files of checkpoints that were never written.
     */
    async sweep(): Promise<void> {
      const leftBehind = await queries.markLeftBehind(control, nowIso())
      await artifacts.removeVersions(leftBehind.map((row) => row.artifact_id))
      await contents.release(await queries.ownersWithoutCheckpoint(control, OWNER_PREFIX))
    },
  }
}
