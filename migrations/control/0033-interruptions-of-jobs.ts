import type { Kysely } from 'kysely'

/** How many attempts at a job ended with their server. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('jobs')
    .addColumn('interruptions', 'integer', (definition) => definition.notNull().defaultTo(0))
    .execute()
}
