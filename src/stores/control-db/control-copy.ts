import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { MIGRATION_TABLES } from './migrate.ts'
import { CONTROL_FILE } from './sqlite.ts'

/** The control database as it was at one moment. */
export interface ControlState extends Disposable {
  /** Writes it to a file of its own. */
  copyTo(path: string): Promise<void>
}

/** Pages that are copied at a time, without the event loop: a few milliseconds of work. */
const PAGES_AT_ONCE = 1_000

/** Keeps the state of this moment readable until disposal; writers go on, and their pages stay in the log meanwhile. */
export function keepControlState(folder: string): ControlState {
  const reader = new DatabaseSync(join(folder, CONTROL_FILE), { readOnly: true })
  // The first read chooses the state: https://sqlite.org/isolation.html
  reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  return {
    async copyTo(path) {
      await backup(reader, path, { rate: PAGES_AT_ONCE })
      // One file, without a log beside it.
      using copy = openCopy(path)
      copy.database.exec('PRAGMA journal_mode = DELETE')
    },
    [Symbol.dispose]() {
      if (reader.isOpen) reader.close()
    },
  }
}

/** Names of the migrations that a copy has. */
export function migrationsOfCopy(path: string): string[] {
  using copy = openCopy(path)
  const texts = (sql: string) =>
    copy.database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name))
  const tables = texts("SELECT name FROM sqlite_schema WHERE type = 'table'")
  // An older release did not record checksums.
  const present = MIGRATION_TABLES.filter((table) => tables.includes(table))
  return [...new Set(present.flatMap((table) => texts(`SELECT name FROM ${table}`)))].sort()
}

function openCopy(path: string): Disposable & { database: DatabaseSync } {
  const database = new DatabaseSync(path)
  return { database, [Symbol.dispose]: () => database.close() }
}
