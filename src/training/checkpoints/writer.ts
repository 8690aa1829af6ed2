import { conflict, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { CommitInDoubt, type ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import {
  ADAPTER_FILES,
  type ManifestEntry,
  type StoredFiles,
  storedFiles,
} from '../checkpoint-files/checkpoint-files.ts'
import type { CheckpointsDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type ModelOfCheckpoints, OWNER_PREFIX } from './rows.ts'

/** Columns from the job that made a checkpoint. */
interface MadeBy {
  job_id: string | null
  dataset_ref: string | null
  metrics: Record<string, number>
}

const BY_NO_JOB: MadeBy = { job_id: null, dataset_ref: null, metrics: {} }

interface NewCheckpoint extends MadeBy {
  id: string
  step: number
  manifest: ManifestEntry[]
}

/** The step of a checkpoint that was made elsewhere: `exactly` this one, or the model's next one, at least `from`. */
export type WantedStep = { exactly: number; from?: never } | { exactly?: never; from?: number }

/** Adds checkpoints; a step number is never used again. */
export interface CheckpointWriter {
  /** Writes step 0 of a new model. */
  insertFirst(tx: ControlTx, model: ModelOfCheckpoints, first: StoredFiles): Promise<void>
  /**
   * Stores the files of a folder as the model's next step, in one transaction with the writes of `alongside`. Where the
   * commit is in doubt, the files stay: those without a checkpoint are swept.
   * @throws 404 when the model is gone.
   */
  addNext(
    model: ModelOfCheckpoints,
    next: MadeBy & { folder: string },
    alongside: (tx: ControlTx, step: number) => Promise<void>,
  ): Promise<number>
  /**
   * Adds a checkpoint that was made elsewhere. Its files are contents that have an owner; `artifact_id` names its
   * artifact version, if there is one already.
   * @throws 409 when the model has had exactly that step; 404 when the model is gone.
   */
  addMade(
    tx: ControlTx,
    model: ModelOfCheckpoints,
    made: { step: WantedStep; manifest: ManifestEntry[]; artifact_id?: string },
  ): Promise<number>
}

export function createCheckpointWriter({
  control,
  contents,
  artifacts,
  files,
}: CheckpointsDeps): CheckpointWriter {
  /** Writes a row whose files have an owner already, with the artifact version that shows it. */
  async function insert(tx: ControlTx, model: ModelOfCheckpoints, given: NewCheckpoint): Promise<void> {
    const { entity, project, name, created_by } = model
    const published = await artifacts.publish(tx, {
      entity,
      project,
      name,
      type: 'lora',
      aliases: [`step${given.step}`],
      metadata: metadataOf(given),
      files: given.manifest.filter((file) => ADAPTER_FILES.includes(file.name)),
      created_by,
    })
    await insertRow(tx, model, { ...given, artifact_id: published.id })
  }

  async function insertRow(
    tx: ControlTx,
    model: ModelOfCheckpoints,
    given: NewCheckpoint & { artifact_id: string },
  ): Promise<void> {
    const { manifest, adapter_digest } = storedFiles(given.manifest)
    const digests = manifest.map((file) => file.digest)
    await contents.share(tx, OWNER_PREFIX + given.id, digests)
    await queries.insertCheckpoint(tx, {
      ...given,
      model_id: model.id,
      metrics: JSON.stringify(given.metrics),
      adapter_digest,
      manifest: JSON.stringify(manifest),
      merged: null,
      created_at: nowIso(),
      deleted_at: null,
    })
  }

  async function addNext(
    model: ModelOfCheckpoints,
    next: MadeBy & { folder: string },
    alongside: (tx: ControlTx, step: number) => Promise<void>,
  ): Promise<number> {
    const id = newId()
    const { folder, ...made } = next
    try {
      const manifest = await files.store(OWNER_PREFIX + id, folder)
      return await control.transaction().execute(async (tx) => {
        const step = await queries.takeNextStep(tx, model.id)
        if (step === undefined) throw notFound('model', model.id)
        await insert(tx, model, { ...made, id, step, manifest })
        await alongside(tx, step)
        return step
      })
    } catch (error) {
      if (!(error instanceof CommitInDoubt)) await contents.release([OWNER_PREFIX + id])
      throw error
    }
  }

  async function addMade(
    tx: ControlTx,
    model: ModelOfCheckpoints,
    made: { step: WantedStep; manifest: ManifestEntry[]; artifact_id?: string },
  ): Promise<number> {
    const { exactly } = made.step
    const step =
      exactly === undefined
        ? await queries.takeNextStep(tx, model.id, made.step)
        : await queries.takeStep(tx, { model_id: model.id, step: exactly })
    if (step === undefined) throw exactly === undefined ? notFound('model', model.id) : hasHad(model, exactly)
    const { artifact_id, manifest } = made
    const given = { ...BY_NO_JOB, id: newId(), step, manifest }
    if (artifact_id === undefined) await insert(tx, model, given)
    else await insertRow(tx, model, { ...given, artifact_id })
    return step
  }

  return {
    insertFirst: (tx, model, first) =>
      insert(tx, model, { ...BY_NO_JOB, id: newId(), step: 0, manifest: first.manifest }),
    addNext,
    addMade,
  }
}

/** The artifact version for W&B clients. */
function metadataOf({ step, metrics, dataset_ref }: NewCheckpoint): Record<string, unknown> {
  return { step, ...metrics, ...(dataset_ref !== null && { dataset_ref }) }
}

function hasHad({ entity, project, name }: ModelOfCheckpoints, step: number): Error {
  return conflict(
    `Model ${entity}/${project}/${name} has had step ${step} or a later one; steps are never used twice`,
  )
}
