import type { Kysely } from 'kysely'

/** How long projects keep what they store, and what was erased on request. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('retention_settings')
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('days', 'integer', (column) => column.notNull())
    .addColumn('updated_by', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('retention_settings_key', ['project_id', 'kind'])
    .execute()

  await db.schema
    .createTable('erasures')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('entity', 'text')
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('requested_by', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('with_data', 'integer', (column) => column.notNull())
    .addColumn('amounts', 'text')
    .addColumn('requested_at', 'text', (column) => column.notNull())
    .addColumn('unreadable_at', 'text')
    .addColumn('erased_at', 'text')
    .addColumn('gone_at', 'text')
    .execute()

  await db.schema
    .createTable('erased_projects')
    .addColumn('erasure_id', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('erased_projects_key', ['erasure_id', 'project_id'])
    .execute()
}
