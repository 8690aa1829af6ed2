import type { Kysely } from 'kysely'

/** Files of a version are found by their MD5: by clients that read them, and when a later version inherits them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('artifact_files_md5')
    .on('artifact_files')
    .columns(['artifact_id', 'md5'])
    .execute()
}
