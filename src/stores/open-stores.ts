import type { Log } from '../log.ts'
import { openFileBlobs } from './blobs/files.ts'
import type { Blobs } from './blobs/port.ts'
import { migrateControlDb } from './control-db/migrate.ts'
import { openSqlite } from './control-db/sqlite.ts'
import type { ControlDb } from './control-db/tables.ts'
import { openDataFolder } from './data-folder.ts'
import { openChdb } from './trace-db/chdb.ts'
import { migrateTraceDb } from './trace-db/migrate.ts'
import type { TraceDb } from './trace-db/port.ts'

/** What services stand on; disposal closes everything in reverse. */
export interface Stores extends AsyncDisposable {
  traces: TraceDb
  control: ControlDb
  blobs: Blobs
}

/** Opens and migrates the embedded stores below one data folder. @throws Error when another process holds it. */
export async function openStores(dataFolder: string, log: Log): Promise<Stores> {
  await using opening = new AsyncDisposableStack()
  opening.use(openDataFolder(dataFolder))
  const traces = opening.use(openChdb(dataFolder, log))
  const control = opening.use(openSqlite(dataFolder))
  const blobs = opening.use(await openFileBlobs(dataFolder))
  await migrateControlDb(control)
  await migrateTraceDb(traces)
  const opened = opening.move()
  return { traces, control, blobs, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
