import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export async function countQueues(control: ControlDb, projectIds: readonly string[]): Promise<number> {
  const row = await control
    .selectFrom('annotation_queues')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', 'in', projectIds)
    .executeTakeFirstOrThrow()
  return row.count
}

/** Deletes queues, deleted ones too, with their items and results. */
export async function deleteQueues(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  const queues = tx.selectFrom('annotation_queues').select('id').where('project_id', 'in', projectIds)
  const items = tx.selectFrom('annotation_queue_items').select('id').where('queue_id', 'in', queues)
  await tx.deleteFrom('annotation_results').where('item_id', 'in', items).execute()
  await tx.deleteFrom('annotation_queue_items').where('queue_id', 'in', queues).execute()
  await tx.deleteFrom('annotation_queues').where('project_id', 'in', projectIds).execute()
}
