import type { SelectQueryBuilder } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { ControlTables } from '../../stores/control-db/tables.ts'

export async function countQueues(control: ControlDb, projectIds: readonly string[]): Promise<number> {
  const row = await control
    .selectFrom('annotation_queues')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', 'in', projectIds)
    .executeTakeFirstOrThrow()
  return row.count
}

/** Deletes the queues of projects, deleted ones too, with their items and results. */
export async function deleteQueuesOf(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  const queues = tx.selectFrom('annotation_queues').select('id').where('project_id', 'in', projectIds)
  await deleteContents(tx, queues)
  await tx.deleteFrom('annotation_queues').where('project_id', 'in', projectIds).execute()
}

/** Some of the queues that were deleted before a time, by their ids. */
export async function listDeletedQueues(
  control: ControlDb,
  before: string,
  limit: number,
): Promise<string[]> {
  const rows = await control
    .selectFrom('annotation_queues')
    .select('id')
    .where('deleted_at', '<', before)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes queues with their items and results. */
export async function deleteQueues(tx: ControlTx, ids: readonly string[]): Promise<void> {
  await deleteContents(tx, tx.selectFrom('annotation_queues').select('id').where('id', 'in', ids))
  await tx.deleteFrom('annotation_queues').where('id', 'in', ids).execute()
}

/** The rows of queues in the trace database, and their marks. */
export const DELETE_QUEUED_CALLS = 'DELETE WHERE queue_id IN {queues:Array(String)}'

async function deleteContents(
  tx: ControlTx,
  queues: SelectQueryBuilder<ControlTables, 'annotation_queues', { id: string }>,
): Promise<void> {
  const items = tx.selectFrom('annotation_queue_items').select('id').where('queue_id', 'in', queues)
  await tx.deleteFrom('annotation_results').where('item_id', 'in', items).execute()
  await tx.deleteFrom('annotation_queue_items').where('queue_id', 'in', queues).execute()
}
