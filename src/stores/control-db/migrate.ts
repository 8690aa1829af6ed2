import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Migration, Migrator } from 'kysely/migration'
import type { ControlDb } from './tables.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations/control')

/** Brings the control database to the newest version. @throws Error with the migration that failed. */
export async function migrateControlDb(db: ControlDb): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: loadMigrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw new Error('The control database could not be migrated', { cause: error })
}

async function loadMigrations(): Promise<Record<string, Migration>> {
  const names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.ts')).sort()
  const migrations: Record<string, Migration> = {}
  for (const name of names) {
    migrations[name] = (await import(pathToFileURL(join(MIGRATIONS_FOLDER, name)).href)) as Migration
  }
  return migrations
}
