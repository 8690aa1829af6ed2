import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
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
  const rows = copy.database.prepare('SELECT name FROM migration_checksums ORDER BY name').all()
  return rows.map(({ name }) => String(name))
}

function openCopy(path: string): Disposable & { database: DatabaseSync } {
  const database = new DatabaseSync(path)
  return { database, [Symbol.dispose]: () => database.close() }
}
