import type { Kysely } from 'kysely'

/** What entities and keys may use. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('limits')
    .addColumn('subject', 'text', (column) => column.primaryKey())
    .addColumn('requests_per_minute', 'integer')
    .addColumn('tokens_per_month', 'bigint')
    .addColumn('usd_per_month', 'double precision')
    .addColumn('warn_at', 'double precision', (column) => column.notNull())
    .addColumn('updated_by', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
}
