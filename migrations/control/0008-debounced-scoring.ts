import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('scoring_tasks').addColumn('debounce_key', 'text').execute()
  await db.schema
    .createIndex('scoring_tasks_debounced')
    .on('scoring_tasks')
    .columns(['debounce_key'])
    .execute()
}
