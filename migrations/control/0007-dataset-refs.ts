import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('training_jobs').addColumn('dataset_ref', 'text').execute()
  await db.schema.alterTable('checkpoints').addColumn('dataset_ref', 'text').execute()
}
