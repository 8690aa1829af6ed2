import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('scoring_tasks')
    .addColumn('target', 'text', (column) => column.notNull().defaultTo('call'))
    .execute()
  await db.schema.alterTable('scoring_tasks').addColumn('window_calls', 'text').execute()
  await db.schema
    .createTable('monitor_states')
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('object_id', 'text', (column) => column.notNull())
    .addColumn('scored', 'integer', (column) => column.notNull())
    .addColumn('failed', 'integer', (column) => column.notNull())
    .addColumn('last_run_at', 'text', (column) => column.notNull())
    .addColumn('last_error', 'text')
    .addPrimaryKeyConstraint('monitor_states_primary', ['project_id', 'object_id'])
    .execute()
}
