import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rowsOf, type TraceDb } from './port.ts'

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations/trace')

/** Runs the numbered SQL files that this database has not seen, in order. @throws Error naming the file that failed. */
export async function migrateTraceDb(db: TraceDb): Promise<void> {
  await db.command({
    sql: `CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime64(6, 'UTC') DEFAULT now64(6))
      ENGINE = ReplacingMergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
    params: {},
  })
  const applied = await rowsOf(db.query<{ name: string }>({ sql: 'SELECT name FROM migrations', params: {} }))
  const known = new Set(applied.map((row) => row.name))
  const names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.sql')).sort()
  for (const name of names.filter((candidate) => !known.has(candidate))) {
    for (const statement of statementsOf(await readFile(join(MIGRATIONS_FOLDER, name), 'utf8'))) {
      await db.command({ sql: statement, params: {} }).catch((error: unknown) => {
        throw new Error(`Migration ${name} failed`, { cause: error })
      })
    }
    await db.insert('migrations', [{ name }])
  }
}

/** A crash between two statements of one file runs the whole file again, so its statements say IF NOT EXISTS. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
