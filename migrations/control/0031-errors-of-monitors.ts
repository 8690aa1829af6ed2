import type { Kysely } from 'kysely'

/** When the last error of a monitor was, and of which of its versions; null for errors of before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['last_error_at', 'last_error_digest'])
    await db.schema.alterTable('monitor_states').addColumn(column, 'text').execute()
}
