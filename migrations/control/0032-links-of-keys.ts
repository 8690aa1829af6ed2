import type { Kysely } from 'kysely'

/** Which key made a sign-in link: the link is valid no longer than that key. Null for links of sessions, and for the first operator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('sign_in_links').addColumn('key_id', 'text').execute()
}
