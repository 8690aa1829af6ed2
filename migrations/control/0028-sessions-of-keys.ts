import type { Kysely } from 'kysely'

/** Which key a browser signed in with: its session ends with that key. Null for sessions of links and sign-in providers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('key_id', 'text').execute()
}
