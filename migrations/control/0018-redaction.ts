import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('redaction_rules')
    .addColumn('project_id', 'text', (column) => column.primaryKey())
    .addColumn('rules', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('redaction_hits')
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('hits', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('redaction_hits_key', ['project_id', 'rule'])
    .execute()
}
