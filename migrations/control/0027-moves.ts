import type { Kysely } from 'kysely'

/** Where the stores of this installation have been, and where they were moved to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('moves')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('store', 'text', (column) => column.notNull())
    .addColumn('from_place', 'text', (column) => column.notNull())
    .addColumn('to_place', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text')
    .execute()
}
