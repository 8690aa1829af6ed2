import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('artifact_collections')
    .addColumn('kind', 'text', (column) => column.notNull().defaultTo('sequence'))
    .execute()
  await db.schema.alterTable('artifact_collections').addColumn('description', 'text').execute()
  await db.schema
    .alterTable('artifact_collections')
    .addColumn('tags', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute()
  await db.schema.alterTable('artifact_collections').addColumn('updated_at', 'text').execute()

  await db.schema
    .createTable('artifact_links')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('collection_id', 'text', (column) => column.notNull())
    .addColumn('artifact_id', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('artifact_links_artifact', ['collection_id', 'artifact_id'])
    .addUniqueConstraint('artifact_links_version', ['collection_id', 'version'])
    .execute()
  await db.schema
    .createIndex('artifact_links_member')
    .on('artifact_links')
    .columns(['artifact_id', 'id'])
    .execute()
}
