import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Migration, Migrator } from 'kysely/migration'
import {
  checkAppliedMigrations,
  type MigrationChecksums,
  readMigrationChecksums,
} from '../applied-migrations.ts'
import type { ControlDb } from './port.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations/control')

/**
 * Brings the control database to the newest version.
 * @throws Error with the migration that failed, or that has changed since it was applied.
 */
export async function migrateControlDb(db: ControlDb, folder: string = MIGRATIONS_FOLDER): Promise<void> {
  const ofBuild = await controlMigrations(folder)
  const provider = { getMigrations: () => loadMigrations(folder, [...ofBuild.keys()]) }
  const migrator = new Migrator({ db, provider })
  await createChecksumsTable(db)
  await check(db, ofBuild)
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw new Error('The control database could not be migrated', { cause: error })
  await check(db, ofBuild)
}

/** The migrations of this build. */
export function controlMigrations(folder: string = MIGRATIONS_FOLDER): Promise<MigrationChecksums> {
  return readMigrationChecksums(folder, '.ts')
}

/** The tables that name the applied migrations. */
export const MIGRATION_TABLES = ['kysely_migration', 'migration_checksums'] as const

/**
 * The migrations that were applied to a control database; none where no server has used it yet. One has no checksum
 * where a server ended after it applied it and before it recorded that, or where an older release did.
 */
export async function appliedControlMigrations(
  db: ControlDb,
): Promise<ReadonlyMap<string, string | undefined>> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const [executed, recorded] = MIGRATION_TABLES.map((table) => tables.some(({ name }) => name === table))
  const names = executed ? await db.selectFrom('kysely_migration').select('name').execute() : []
  const checksums = recorded ? await db.selectFrom('migration_checksums').selectAll().execute() : []
  return new Map([
    ...names.map(({ name }) => [name, undefined] as const),
    ...checksums.map(({ name, checksum }) => [name, checksum] as const),
  ])
}

/** Compares the applied migrations, and records missing checksums. */
async function check(db: ControlDb, ofBuild: MigrationChecksums): Promise<void> {
  const unrecorded = [...checkAppliedMigrations(ofBuild, await appliedControlMigrations(db))]
  if (unrecorded.length === 0) return
  const values = unrecorded.map(([name, checksum]) => ({ name, checksum }))
  // Another server that starts at the same time records the same.
  await db
    .insertInto('migration_checksums')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function createChecksumsTable(db: ControlDb): Promise<void> {
  await db.schema
    .createTable('migration_checksums')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('checksum', 'text', (column) => column.notNull())
    .execute()
}

async function loadMigrations(folder: string, names: readonly string[]): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {}
  for (const name of names) {
    migrations[name] = (await import(pathToFileURL(join(folder, name)).href)) as Migration
  }
  return migrations
}
