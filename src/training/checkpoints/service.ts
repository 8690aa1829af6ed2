import { z } from 'zod'
import { notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import { toPage } from '../page-wire.ts'
import { type CheckpointFiles, ManifestEntry, type StoredFiles } from './files.ts'
import {
  type CheckpointRow,
  findCheckpoint,
  findStep,
  insertCheckpoint,
  isFileUsed,
  listCheckpoints,
  markDeleted,
  takeNextStep,
} from './queries.ts'
import type { CheckpointsDeleteReq, CheckpointsListQuery } from './wire.ts'

const Metrics = z.record(z.string(), z.number())

/** A checkpoint as the rest of the server uses it. */
export interface StoredCheckpoint extends StoredFiles {
  id: string
  step: number
}

export type Checkpoints = ReturnType<typeof createCheckpoints>

/** Steps of models: listed, deleted, never renumbered, never used twice. */
export function createCheckpoints({ control, files }: { control: ControlDb; files: CheckpointFiles }) {
  // Keeps the removal of unused files away from the moment between storing files and writing their row.
  const exclusively = createQueue()

  async function newest(modelId: string): Promise<StoredCheckpoint | undefined> {
    const page = { model_id: modelId, afterStep: undefined, order: 'desc', limit: 1 } as const
    const [row] = await listCheckpoints(control, page)
    return row && stored(row)
  }

  async function removeUnusedFiles(deleted: CheckpointRow[]): Promise<void> {
    const digests = new Set(deleted.flatMap((row) => stored(row).manifest.map((entry) => entry.digest)))
    for (const digest of digests) {
      if (!(await isFileUsed(control, digest))) await files.deleteBlob(digest)
    }
  }

  return {
    newest,

    /** A page of live checkpoints by step. @throws 404 for an unknown cursor. */
    async list(req: CheckpointsListQuery & { model_id: string }) {
      const cursor = req.after === undefined ? undefined : await findCheckpoint(control, req.after)
      if (req.after !== undefined && cursor?.model_id !== req.model_id)
        throw notFound('checkpoint', req.after)
      const rows = await listCheckpoints(control, {
        model_id: req.model_id,
        afterStep: cursor?.step,
        order: req.order,
        limit: req.limit + 1,
      })
      const items = rows.map(({ id, step, metrics }) => ({
        id,
        step,
        metrics: Metrics.parse(JSON.parse(metrics)),
      }))
      return toPage(items, req.limit)
    },

    /** A live checkpoint by its step. */
    async atStep(req: { model_id: string; step: number }): Promise<StoredCheckpoint | undefined> {
      const row = await findStep(control, req)
      return row && stored(row)
    },

    /** A checkpoint by id, also a deleted one, whose files may be gone. */
    async byId(id: string): Promise<StoredCheckpoint | undefined> {
      const row = await findCheckpoint(control, id)
      return row && stored(row)
    },

    /** Writes step 0 of a new model. */
    insertFirst: (tx: ControlTx, modelId: string, first: StoredFiles) =>
      insertCheckpoint(tx, newRow({ model_id: modelId, step: 0, files: first, metrics: {}, job_id: null })),

    /**
     * Stores the files of a folder as the model's next step, and in the same transaction whatever `alongside` writes.
     * @throws 404 when the model is gone.
     */
    addNext(
      next: { model_id: string; job_id: string; directory: string; metrics: Record<string, number> },
      alongside: (tx: ControlTx, step: number) => Promise<void>,
    ): Promise<number> {
      return exclusively(async () => {
        const storedFiles = await files.store(next.directory)
        return control.transaction().execute(async (tx) => {
          const step = await takeNextStep(tx, next.model_id)
          if (step === undefined) throw notFound('model', next.model_id)
          await insertCheckpoint(tx, newRow({ ...next, step, files: storedFiles }))
          await alongside(tx, step)
          return step
        })
      })
    },

    /** Deletes steps. Wire: a retried DELETE finds its steps gone and still succeeds. */
    async delete(req: CheckpointsDeleteReq & { model_id: string }) {
      const { model_id } = req
      const steps = [...new Set(req.steps)]
      const gone = await exclusively(async () => {
        const rows = await markDeleted(control, { model_id, steps, deleted_at: nowIso() })
        await removeUnusedFiles(rows)
        return new Set(rows.map((row) => row.step))
      })
      return { deleted_count: gone.size, not_found_steps: steps.filter((step) => !gone.has(step)) }
    },

    /** Deletes what a model has. */
    async deleteAll(model_id: string): Promise<number> {
      return exclusively(async () => {
        const rows = await markDeleted(control, { model_id, steps: 'all', deleted_at: nowIso() })
        await removeUnusedFiles(rows)
        return rows.length
      })
    },
  }
}

function stored(row: CheckpointRow): StoredCheckpoint {
  const manifest = z.array(ManifestEntry).parse(JSON.parse(row.manifest))
  return { id: row.id, step: row.step, adapter_digest: row.adapter_digest, manifest }
}

function newRow(from: {
  model_id: string
  step: number
  files: StoredFiles
  metrics: Record<string, number>
  job_id: string | null
}): CheckpointRow {
  return {
    id: newId(),
    model_id: from.model_id,
    step: from.step,
    metrics: JSON.stringify(from.metrics),
    adapter_digest: from.files.adapter_digest,
    manifest: JSON.stringify(from.files.manifest),
    job_id: from.job_id,
    created_at: nowIso(),
    deleted_at: null,
  }
}

/** Runs one piece of work after the other. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }
}
