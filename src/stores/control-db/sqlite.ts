import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import { NO_TELEMETRY, type Telemetry } from '../../telemetry.ts'
import type { ControlDb } from './port.ts'
import { querySpans } from './query-spans.ts'
import { sqliteError } from './sqlite-errors.ts'
import { checkTexts, rowsOf } from './sqlite-values.ts'
import type { ControlTables } from './tables.ts'

/** Its name in the data folder. */
export const CONTROL_FILE = 'control.sqlite'

/** How long a statement waits for another process's lock, such as a backup's. */
const BUSY_MS = 5_000

/** Prepared statements that are kept; lists of values make some of many lengths. */
const PREPARED_MAX = 500

/** An embedded control database. */
export type OpenSqlite = ControlDb &
  AsyncDisposable & {
    /** Moves the write-ahead log, which has earlier versions of rows, into the database, and empties it. */
    dropLog: () => void
  }

/** Whether a data folder has such a database. */
export function hasSqlite(folder: string): boolean {
  return existsSync(join(folder, CONTROL_FILE))
}

/** @throws Error where a server never used the folder, as one whose name is mistyped */
export function requireSqlite(folder: string): void {
  if (!hasSqlite(folder)) throw new Error(`${folder} is no data folder: name one with --data`)
}

/**
 * Opens the embedded control database. A commit is on disk when its promise resolves.
 * @param written called after every write, with its error where it failed
 */
export function openSqlite(
  folder: string,
  written: (error: unknown) => void = () => undefined,
  telemetry: Telemetry = NO_TELEMETRY,
): OpenSqlite {
  const database = new DatabaseSync(join(folder, CONTROL_FILE))
  // Deleted rows are overwritten: what was erased must not stay in pages that are free.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON; PRAGMA busy_timeout = ${BUSY_MS}`)
  const kysely = new Kysely<ControlTables>({
    dialect: new SqliteDialect({ database: adapt(database, written) }),
    ...querySpans(telemetry, 'sqlite'),
  })
  return Object.assign(kysely, {
    /** A reader on another connection, such as that of a backup, may keep a part of the log. */
    dropLog: () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    [Symbol.asyncDispose]: () => kysely.destroy(),
  })
}

/** Opens the embedded control database of a folder as it is: it is neither migrated nor changed. */
export function readSqlite(folder: string): ControlDb & AsyncDisposable {
  const path = join(folder, CONTROL_FILE)
  const url = pathToFileURL(path)
  // Without its log there is nothing to read beside the file, and SQLite would make files there.
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true })
  const kysely = new Kysely<ControlTables>({
    dialect: new SqliteDialect({ database: adapt(database, () => undefined) }),
  })
  return Object.assign(kysely, { [Symbol.asyncDispose]: () => kysely.destroy() })
}

/** Kysely speaks better-sqlite3's interface; node:sqlite differs in how parameters and result columns are given. */
function adapt(database: DatabaseSync, written: (error: unknown) => void): SqliteDatabase {
  const prepared = new Map<string, StatementSync>()

  /** Preparing takes longer than most statements, of which there are few. */
  function prepare(sql: string): StatementSync {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size >= PREPARED_MAX) prepared.clear()
    const statement = database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  function noted<Result>(write: () => Result): Result {
    try {
      const result = write()
      // Within a transaction nothing is on disk yet.
      if (!database.isTransaction) written(undefined)
      return result
    } catch (error) {
      written(error)
      throw error
    }
  }

  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = prepare(sql)
      return {
        reader: statement.columns().length > 0,
        all(parameters) {
          const values = parameters as SQLInputValue[]
          checkTexts(sql, values)
          return translated(() => rowsOf(statement, sql, values))
        },
        run(parameters) {
          const values = parameters as SQLInputValue[]
          checkTexts(sql, values)
          // SQLite rolls back by itself when the disk fails; Kysely's own rollback would then hide the reason.
          if (sql === 'rollback' && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 }
          return noted(() => translated(() => statement.run(...values)))
        },
        // Another iteration of the same statement is in progress.
        iterate: (parameters) => database.prepare(sql).iterate(...(parameters as SQLInputValue[])),
      }
    },
  }
}

function translated<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw sqliteError(error)
  }
}
