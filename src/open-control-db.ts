import { join } from 'node:path'
import type { Log } from './log.ts'
import { migrateControlDb } from './stores/control-db/migrate.ts'
import { NO_PEERS, type Peers } from './stores/control-db/peers.ts'
import { type ControlDb, type ControlDbWatch, NOTHING_WATCHED } from './stores/control-db/port.ts'
import { type PostgresOptions, placeOfPostgres } from './stores/control-db/postgres-address.ts'
import { CONTROL_FILE, hasSqlite, openSqlite, readSqlite } from './stores/control-db/sqlite.ts'
import { NO_TELEMETRY, type Telemetry } from './telemetry.ts'

/** Where the control database is. */
export interface ControlDbPlace {
  /** In it, where there is no server elsewhere. */
  dataFolder: string
  /** A PostgreSQL server. */
  postgres?: PostgresOptions | undefined
  /** Whether other servers use it at the same time, which only a PostgreSQL server allows. */
  servers?: 'one' | 'several' | undefined
  /** Records its statements; none are where absent. */
  telemetry?: Telemetry | undefined
}

/** A control database, and what follows an erasure. */
export interface OpenControlDb extends AsyncDisposable {
  control: ControlDb
  peers: Peers
  watch: ControlDbWatch
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
  const { control, migrate, ...more } = await openUnmigrated(place, log, written)
  opening.use(control)
  await migrate()
  const opened = opening.move()
  return { control, ...more, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

interface Unmigrated extends Pick<OpenControlDb, 'peers' | 'watch' | 'dropLog'> {
  control: ControlDb & AsyncDisposable
  migrate: () => Promise<void>
}

async function openUnmigrated(
  { dataFolder, postgres, servers = 'one', telemetry = NO_TELEMETRY }: ControlDbPlace,
  log: Pick<Log, 'warn'>,
  written: (error: unknown) => void,
): Promise<Unmigrated> {
  if (postgres === undefined) {
    const control = openSqlite(dataFolder, written, telemetry)
    return {
      control,
      peers: NO_PEERS,
      watch: NOTHING_WATCHED,
      dropLog: control.dropLog,
      migrate: () => migrateControlDb(control),
    }
  }
  // A server without it need not wait until the driver is loaded.
  const { openPostgres } = await import('./stores/control-db/postgres.ts')
  const control = await openPostgres(postgres, log, { servers, written, telemetry })
  const { peers, watch } = control
  async function migrate(): Promise<void> {
    await control.migrate()
    await control.reportChanges()
  }
  return { control, peers, watch, dropLog: () => undefined, migrate }
}

/**
 * Opens a control database as it is, also while servers use it: it is neither migrated nor changed.
 * @returns undefined for a data folder that has none
 */
export async function readControlDb({
  dataFolder,
  postgres,
}: ControlDbPlace): Promise<(ControlDb & AsyncDisposable) | undefined> {
  if (postgres === undefined) return hasSqlite(dataFolder) ? readSqlite(dataFolder) : undefined
  const { readPostgres } = await import('./stores/control-db/postgres.ts')
  return readPostgres(postgres)
}

/** Warns of a control database in the data folder that is not used, since the settings name one elsewhere. */
export function warnOfUnusedControlDb(
  { dataFolder, postgres }: ControlDbPlace,
  log: Pick<Log, 'warn'>,
): void {
  if (postgres === undefined || !hasSqlite(dataFolder)) return
  log.warn(
    { file: join(dataFolder, CONTROL_FILE), url: placeOfPostgres(postgres) },
    'the data folder has a control database of its own, which is not used while HEDDLE_POSTGRES_URL is set',
  )
}

/** Where a control database is, for people; without a password. */
export function placeOfControlDb({ dataFolder, postgres }: ControlDbPlace): string {
  return postgres === undefined ? join(dataFolder, CONTROL_FILE) : placeOfPostgres(postgres)
}
