import type { Kysely } from 'kysely'

/** Files of artifacts may be references to where their bytes are; versions are found by the ids that their clients gave them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('artifact_files').addColumn('reference', 'text').execute()
  await db.schema.alterTable('artifact_files').addColumn('extra', 'text').execute()
  await db.schema.alterTable('artifact_versions').addColumn('client_id', 'text').execute()
  await db.schema
    .createIndex('artifact_versions_client_id')
    .on('artifact_versions')
    .column('client_id')
    .execute()
}
