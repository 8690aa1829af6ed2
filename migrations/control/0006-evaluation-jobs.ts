import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('evaluation_jobs')
    .addColumn('call_id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('evaluation_ref', 'text', (column) => column.notNull())
    .addColumn('model_ref', 'text', (column) => column.notNull())
    .addColumn('user', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('scoring_tasks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('scorer_ref', 'text', (column) => column.notNull())
    .addColumn('trigger_ref', 'text')
    .addColumn('is_traced', 'integer', (column) => column.notNull())
    .addColumn('user', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('scoring_tasks_due').on('scoring_tasks').columns(['due_at', 'id']).execute()

  await db.schema
    .createTable('monitored_calls')
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('noted_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('monitored_calls_key', ['project_id', 'call_id'])
    .execute()
  await db.schema.createIndex('monitored_calls_noted').on('monitored_calls').columns(['noted_at']).execute()
}
