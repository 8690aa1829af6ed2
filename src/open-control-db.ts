import { join } from 'node:path'
import type { Log } from './log.ts'
import { migrateControlDb } from './stores/control-db/migrate.ts'
import type { ControlDb } from './stores/control-db/port.ts'
import { type PostgresOptions, placeOfPostgres } from './stores/control-db/postgres-address.ts'
import { CONTROL_FILE, hasSqlite, openSqlite } from './stores/control-db/sqlite.ts'

/** Where the control database is. */
export interface ControlDbPlace {
  /** In it, where there is no server elsewhere. */
  dataFolder: string
  /** A PostgreSQL server. */
  postgres?: PostgresOptions | undefined
}

/** A control database, and what follows an erasure. */
export interface OpenControlDb extends AsyncDisposable {
  control: ControlDb
  /** Removes earlier versions of rows from the disk. A server elsewhere does so by its own rules. */
  dropLog: () => void
}

/**
 * Opens and migrates the control database.
 * @param written called after every write, with its error where it failed
 * @throws Error with what is wrong with the database
 */
export async function openControlDb(
  place: ControlDbPlace,
  log: Pick<Log, 'warn'>,
  written: (error: unknown) => void,
): Promise<OpenControlDb> {
  await using opening = new AsyncDisposableStack()
  const { control, dropLog } = await openUnmigrated(place, log, written)
  opening.use(control)
  await migrateControlDb(control)
  const opened = opening.move()
  return { control, dropLog, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function openUnmigrated(
  { dataFolder, postgres }: ControlDbPlace,
  log: Pick<Log, 'warn'>,
  written: (error: unknown) => void,
): Promise<{ control: ControlDb & AsyncDisposable; dropLog: () => void }> {
  if (postgres === undefined) {
    const control = openSqlite(dataFolder, written)
    return { control, dropLog: control.dropLog }
  }
  if (hasSqlite(dataFolder))
    log.warn(
      { file: join(dataFolder, CONTROL_FILE), url: placeOfPostgres(postgres) },
      'the data folder has a control database of its own, which is not used while HEDDLE_POSTGRES_URL is set',
    )
  // A server without it need not wait until the driver is loaded.
  const { openPostgres } = await import('./stores/control-db/postgres.ts')
  return { control: await openPostgres(postgres, log, written), dropLog: () => undefined }
}

/** Where a control database is, for people; without a password. */
export function placeOfControlDb({ dataFolder, postgres }: ControlDbPlace): string {
  return postgres === undefined ? join(dataFolder, CONTROL_FILE) : placeOfPostgres(postgres)
}
