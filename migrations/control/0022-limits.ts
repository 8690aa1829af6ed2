import type { Kysely } from 'kysely'

/** What entities and keys may use, and whose work a job is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('usage_limits')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('limits', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('updated_by', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_limits_key', ['kind', 'name'])
    .execute()

  await db.schema
    .createTable('budgets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('project', 'text')
    .addColumn('key_id', 'text')
    .addColumn('unit', 'text', (column) => column.notNull())
    .addColumn('amount', 'real', (column) => column.notNull())
    .addColumn('warn_at', 'real', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('budgets_entity').on('budgets').column('entity').execute()

  await db.schema
    .alterTable('jobs')
    .addColumn('entity', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema
    .alterTable('jobs')
    .addColumn('key_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  const ofEntity = ['kind', 'state', 'entity', 'run_at', 'id'] as const
  await db.schema.createIndex('jobs_entity').on('jobs').columns(ofEntity.slice()).execute()
}
