import type { Selectable } from 'kysely'
import type { CheckpointsTable, ControlDb, ControlTx } from '../../stores/control-db/tables.ts'

export type CheckpointRow = Selectable<CheckpointsTable>

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

/** Also finds deleted ones: a cursor must stay good for ever. */
export function findCheckpoint(control: ControlDb, id: string): Promise<CheckpointRow | undefined> {
  return control.selectFrom('checkpoints').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findStep(
  control: ControlDb,
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

export async function insertCheckpoint(tx: ControlTx, row: CheckpointRow): Promise<void> {
  await tx.insertInto('checkpoints').values(row).execute()
}

/** Gives out the model's next step; undefined when the model is gone. */
export async function takeNextStep(tx: ControlTx, modelId: string): Promise<number | undefined> {
  const row = await tx
    .updateTable('models')
    .set((eb) => ({ last_step: eb('last_step', '+', 1) }))
    .where('id', '=', modelId)
    .returning('last_step')
    .executeTakeFirst()
  return row?.last_step
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

/** Whether a live checkpoint or an initial adapter still needs a file. */
export async function isFileUsed(control: ControlDb, digest: string): Promise<boolean> {
  const pattern = `%${digest}%`
  const checkpoint = await control
    .selectFrom('checkpoints')
    .select('id')
    .where('deleted_at', 'is', null)
    .where('manifest', 'like', pattern)
    .limit(1)
    .executeTakeFirst()
  if (checkpoint !== undefined) return true
  const initial = await control
    .selectFrom('initial_adapters')
    .select('base_model')
    .where('manifest', 'like', pattern)
    .limit(1)
    .executeTakeFirst()
  return initial !== undefined
}
