import type { Kysely } from 'kysely'

/** People who sign in through a provider, and programs that show tokens of trusted issuers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('user_identities')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('user_identities_key', ['issuer', 'subject'])
    .addUniqueConstraint('user_identities_user', ['user_id', 'issuer'])
    .execute()

  for (const [table, column] of [
    ['memberships', 'from_groups'],
    ['users', 'operator_from_groups'],
  ] as const)
    await db.schema
      .alterTable(table)
      .addColumn(column, 'integer', (added) => added.notNull().defaultTo(0))
      .execute()

  await db.schema
    .createTable('identity_providers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('entity', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('audience', 'text', (column) => column.notNull())
    .addColumn('claims', 'text', (column) => column.notNull())
    .addColumn('jwks', 'text')
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('identity_providers_issuer')
    .on('identity_providers')
    .columns(['issuer', 'audience'])
    .execute()
  await db.schema
    .createIndex('identity_providers_entity')
    .on('identity_providers')
    .columns(['entity', 'position'])
    .execute()
}
