import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('contents')
    .addColumn('digest', 'text', (column) => column.primaryKey())
    .addColumn('md5', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('blob_key', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('content_owners')
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('content_owners_key', ['owner', 'digest'])
    .execute()
  await db.schema.createIndex('content_owners_digest').on('content_owners').columns(['digest']).execute()
}
