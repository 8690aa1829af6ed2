import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('annotation_queues')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('name_lower', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('scorer_refs', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('deleted_at', 'text')
    .execute()
  await db.schema
    .createIndex('annotation_queues_project')
    .on('annotation_queues')
    .columns(['project_id', 'created_at'])
    .execute()

  await db.schema
    .createTable('annotation_queue_items')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('queue_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('call_started_at', 'text', (column) => column.notNull())
    .addColumn('call_ended_at', 'text')
    .addColumn('call_op_name', 'text', (column) => column.notNull())
    .addColumn('call_trace_id', 'text', (column) => column.notNull())
    .addColumn('display_fields', 'text', (column) => column.notNull())
    .addColumn('added_by', 'text', (column) => column.notNull())
    .addColumn('finished_state', 'text')
    .addColumn('finished_by', 'text')
    .addColumn('claimed_by', 'text')
    .addColumn('claimed_with', 'text')
    .addColumn('claimed_until', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('annotation_queue_items_call', ['queue_id', 'call_id'])
    .execute()
  await db.schema
    .createIndex('annotation_queue_items_order')
    .on('annotation_queue_items')
    .columns(['queue_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('annotation_queue_items_finished')
    .on('annotation_queue_items')
    .columns(['queue_id', 'finished_state'])
    .execute()

  await db.schema
    .createTable('annotation_results')
    .addColumn('item_id', 'text', (column) => column.notNull())
    .addColumn('annotator', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('annotation_results_key', ['item_id', 'annotator'])
    .execute()
}
