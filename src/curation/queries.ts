import type { ControlDb } from '../stores/control-db/port.ts'

/** The calls of a queue's items that any annotator, or the named one, has completed, in the queue's order. */
export async function completedCalls(
  control: ControlDb,
  queue: { queue_id: string; annotator: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await control
    .selectFrom('annotation_queue_items')
    .select('call_id')
    .where('queue_id', '=', queue.queue_id)
    .where('id', 'in', (select) => {
      const completed = select
        .selectFrom('annotation_results')
        .select('item_id')
        .where('state', '=', 'completed')
      return queue.annotator === undefined ? completed : completed.where('annotator', '=', queue.annotator)
    })
    .orderBy('created_at')
    .orderBy('id')
    .limit(queue.limit)
    .execute()
  return rows.map(({ call_id }) => call_id)
}
