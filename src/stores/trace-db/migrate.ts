import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkAppliedMigrations, readMigrationChecksums } from '../applied-migrations.ts'
import { rowsOf, type TraceDb } from './port.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations/trace')

/** A row of the table of applied migrations, with the checksum of the file then; '' where none was recorded. */
interface AppliedMigration {
  name: string
  applied_at: string
  checksum: string
}

/**
 * Runs the numbered SQL files that were not applied to this database, in order.
 * @throws Error naming the file that failed, or that has changed since it was applied.
 */
export async function migrateTraceDb(db: TraceDb, folder: string = MIGRATIONS_FOLDER): Promise<void> {
  const ofBuild = await readMigrationChecksums(folder, '.sql')
  const applied = await readApplied(db)
  const recorded = new Map([...applied.values()].map(({ name, checksum }) => [name, checksum || undefined]))
  const unrecorded = checkAppliedMigrations(ofBuild, recorded)
  await db.insert(
    'migrations',
    [...unrecorded].map(([name, checksum]) => ({ ...applied.get(name), checksum })),
  )
  for (const [name, checksum] of ofBuild) {
    if (applied.has(name)) continue
    for (const statement of statementsOf(await readFile(join(folder, name), 'utf8'))) {
      await db.command({ sql: statement, params: {} }).catch((error: unknown) => {
        throw new Error(`Migration ${name} failed`, { cause: error })
      })
    }
    await db.insert('migrations', [{ name, checksum }])
  }
}

async function readApplied(db: TraceDb): Promise<Map<string, AppliedMigration>> {
  await db.command({
    sql: `CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime64(6, 'UTC') DEFAULT now64(6))
      ENGINE = ReplacingMergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
    params: {},
  })
  await db.command({ sql: 'ALTER TABLE migrations ADD COLUMN IF NOT EXISTS checksum String', params: {} })
  const sql = 'SELECT name, applied_at, checksum FROM migrations FINAL'
  const rows = await rowsOf(db.query<AppliedMigration>({ sql, params: {} }))
  return new Map(rows.map((row) => [row.name, row]))
}

/** A crash between two statements of one file runs the whole file again, so its statements say IF NOT EXISTS. */
export function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
