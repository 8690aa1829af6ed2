import { type Selectable, sql } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { CheckpointsTable } from '../../stores/control-db/tables.ts'

export type CheckpointRow = Selectable<CheckpointsTable>

/** Every model's step 0 may be the same adapter; more checkpoints than this are not listed. */
const DIGEST_ROWS_MAX = 10_000

/** Live checkpoints of a model by step, one page. */
export function listCheckpoints(
  control: ControlDb,
  page: { model_id: string; afterStep: number | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<CheckpointRow[]> {
  let query = control
    .selectFrom('checkpoints')
    .selectAll()
    .where('model_id', '=', page.model_id)
    .where('deleted_at', 'is', null)
  if (page.afterStep !== undefined) {
    query = query.where('step', page.order === 'asc' ? '>' : '<', page.afterStep)
  }
  return query.orderBy('step', page.order).limit(page.limit).execute()
}

/** The metrics of live checkpoints, as JSON, by step. */
export function listMetrics(control: ControlDb, modelId: string): Promise<StepMetrics[]> {
  return control
    .selectFrom('checkpoints')
    .select(['step', 'metrics'])
    .where('model_id', '=', modelId)
    .where('deleted_at', 'is', null)
    .orderBy('step')
    .limit(STEPS_MAX)
    .execute()
}

export type StepMetrics = Pick<CheckpointRow, 'step' | 'metrics'>

/** Far above what a model has; bounds one statement. */
const STEPS_MAX = 100_000

/** Also finds deleted ones: a cursor must stay valid. */
export function findCheckpoint(control: ControlTx, id: string): Promise<CheckpointRow | undefined> {
  return control.selectFrom('checkpoints').selectAll().where('id', '=', id).executeTakeFirst()
}

/** A live checkpoint by its step. */
export function findStep(
  control: ControlTx,
  { model_id, step }: { model_id: string; step: number },
): Promise<CheckpointRow | undefined> {
  return control
    .selectFrom('checkpoints')
    .selectAll()
    .where('model_id', '=', model_id)
    .where('step', '=', step)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The live checkpoint of a model that was its newest at a step; the oldest, where all of those were deleted. */
export async function findNewestAt(
  control: ControlTx,
  at: { model_id: string; step: number },
): Promise<CheckpointRow | undefined> {
  const live = control
    .selectFrom('checkpoints')
    .selectAll()
    .where('model_id', '=', at.model_id)
    .where('deleted_at', 'is', null)
    .limit(1)
  const before = await live.where('step', '<=', at.step).orderBy('step', 'desc').executeTakeFirst()
  return before ?? live.orderBy('step').executeTakeFirst()
}

/** The live checkpoint of an artifact version. */
export function findByArtifact(
  control: ControlDb,
  { model_id, artifact_id }: { model_id: string; artifact_id: string },
): Promise<CheckpointRow | undefined> {
  return control
    .selectFrom('checkpoints')
    .selectAll()
    .where('model_id', '=', model_id)
    .where('artifact_id', '=', artifact_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The live checkpoint of a model with the highest step. */
export function findNewest(control: ControlTx, modelId: string): Promise<CheckpointRow | undefined> {
  return control
    .selectFrom('checkpoints')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('deleted_at', 'is', null)
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export interface StepsRow {
  model_id: string
  steps: number
  newest_step: number
}

/** SQLite takes some 32,000 values in one statement. */
const MODELS_MAX = 10_000

/** How many live checkpoints each of the first models has, and the highest step. */
export function countSteps(control: ControlDb, modelIds: readonly string[]): Promise<StepsRow[]> {
  return control
    .selectFrom('checkpoints')
    .select((eb) => ['model_id', eb.fn.countAll<number>().as('steps'), eb.fn.max('step').as('newest_step')])
    .where('model_id', 'in', modelIds.slice(0, MODELS_MAX))
    .where('deleted_at', 'is', null)
    .groupBy('model_id')
    .execute()
}

export type LiveStep = Pick<CheckpointRow, 'model_id' | 'step'>

/** The live checkpoints that have one of these adapters, by step. */
export function findByDigests(control: ControlDb, digests: readonly string[]): Promise<LiveStep[]> {
  return control
    .selectFrom('checkpoints')
    .select(['model_id', 'step'])
    .where('adapter_digest', 'in', digests)
    .where('deleted_at', 'is', null)
    .orderBy('step')
    .limit(DIGEST_ROWS_MAX)
    .execute()
}

export async function insertCheckpoint(tx: ControlTx, row: CheckpointRow): Promise<void> {
  await tx.insertInto('checkpoints').values(row).execute()
}

/** Reserves the model's next step, or a later one with `from`; undefined when the model is gone. */
export async function takeNextStep(
  tx: ControlTx,
  modelId: string,
  { from = 0 }: { from?: number } = {},
): Promise<number | undefined> {
  const row = await tx
    .updateTable('models')
    .set((eb) => ({
      last_step: eb
        .case()
        .when('last_step', '<', from)
        .then(from)
        .else(eb('last_step', '+', 1))
        .end(),
    }))
    .where('id', '=', modelId)
    .returning('last_step')
    .executeTakeFirst()
  return row?.last_step
}

/** Reserves a given step; undefined when the model is gone or has had that step. */
export async function takeStep(
  tx: ControlTx,
  { model_id, step }: { model_id: string; step: number },
): Promise<number | undefined> {
  const row = await tx
    .updateTable('models')
    .set({ last_step: step })
    .where('id', '=', model_id)
    .where('last_step', '<', step)
    .returning('last_step')
    .executeTakeFirst()
  return row?.last_step
}

export async function setMetrics(tx: ControlTx, id: string, metrics: string): Promise<void> {
  await tx.updateTable('checkpoints').set({ metrics }).where('id', '=', id).execute()
}

/** False when the checkpoint was deleted meanwhile. */
export async function setMerged(control: ControlTx, id: string, merged: string): Promise<boolean> {
  const row = await control
    .updateTable('checkpoints')
    .set({ merged })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Bytes of the files of an entity's live checkpoints, beyond those that are files of their artifacts too. */
export async function sumOfEntity(control: ControlDb, entity: string, ownerPrefix: string): Promise<number> {
  const row = await control
    .selectFrom('models')
    .innerJoin('checkpoints', 'checkpoints.model_id', 'models.id')
    .innerJoin('content_owners as owner', (join) =>
      join.on('owner.owner', '=', sql<string>`${ownerPrefix} || checkpoints.id`),
    )
    .innerJoin('contents', 'contents.digest', 'owner.digest')
    .select((eb) => eb.fn.sum<number | null>('contents.size').as('bytes'))
    .where('models.entity', '=', entity)
    .where('checkpoints.deleted_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('artifact_files')
            .select('artifact_files.name')
            .whereRef('artifact_files.artifact_id', '=', 'checkpoints.artifact_id')
            .whereRef('artifact_files.digest', '=', 'owner.digest'),
        ),
      ),
    )
    .executeTakeFirst()
  return row?.bytes ?? 0
}

/** Marks the live checkpoints of deleted models as deleted, which a crash during a deletion leaves behind. */
export async function markLeftBehind(control: ControlDb, deletedAt: string): Promise<void> {
  await control
    .updateTable('checkpoints')
    .set({ deleted_at: deletedAt })
    .where('deleted_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('models').select('id').whereRef('models.id', '=', 'checkpoints.model_id'))),
    )
    .execute()
}

/** The artifact versions of deleted checkpoints that are still there, which a crash during a deletion leaves behind. */
export async function artifactsLeftBehind(control: ControlDb): Promise<string[]> {
  const rows = await control
    .selectFrom('checkpoints')
    .innerJoin('artifact_versions', 'artifact_versions.id', 'checkpoints.artifact_id')
    .select('checkpoints.artifact_id')
    .where('checkpoints.deleted_at', 'is not', null)
    .where('artifact_versions.state', '!=', 'DELETED')
    .execute()
  return rows.map(({ artifact_id }) => artifact_id)
}

export async function markDeleted(
  control: ControlTx,
  options: { model_id: string; steps: readonly number[] | 'all'; deleted_at: string },
): Promise<CheckpointRow[]> {
  if (options.steps.length === 0) return []
  let query = control
    .updateTable('checkpoints')
    .set({ deleted_at: options.deleted_at })
    .where('model_id', '=', options.model_id)
    .where('deleted_at', 'is', null)
  if (options.steps !== 'all') query = query.where('step', 'in', options.steps)
  return query.returningAll().execute()
}

/** The ids of checkpoints that are not deleted, as a part of another query. */
export function selectLiveIds(control: ControlDb) {
  return control.selectFrom('checkpoints').select('id').where('deleted_at', 'is', null)
}
