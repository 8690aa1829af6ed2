import { join } from 'node:path'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { openFileBlobs } from './blobs/files.ts'
import type { Blobs } from './blobs/port.ts'
import { migrateControlDb } from './control-db/migrate.ts'
import { openSqlite } from './control-db/sqlite.ts'
import type { ControlDb } from './control-db/tables.ts'
import { openDataFolder } from './data-folder.ts'
import { type BrokenPart, findBrokenParts } from './trace-db/broken-parts.ts'
import { openChdb } from './trace-db/chdb.ts'
import { migrateTraceDb } from './trace-db/migrate.ts'
import type { TraceDb } from './trace-db/port.ts'
import { createWriteFailures, type WriteFailures } from './write-failures.ts'

/** What services stand on; disposal closes everything in reverse. */
export interface Stores extends AsyncDisposable {
  traces: TraceDb
  control: ControlDb
  blobs: Blobs
  /** What writes have failed on. */
  writeFailures: WriteFailures
  /** What of the trace database could not be read when it was opened. */
  brokenParts: readonly BrokenPart[]
}

/**
 * Opens and migrates the embedded stores below one data folder.
 * @throws Error when another process holds it, or with the store that cannot be opened, where it is, and why.
 */
export async function openStores(dataFolder: string, log: Log): Promise<Stores> {
  await using opening = new AsyncDisposableStack()
  const writeFailures = createWriteFailures()
  opening.use(openDataFolder(dataFolder))
  const at = (name: string): string => join(dataFolder, name)
  const traces = await named('trace database', at('trace-db'), async () => {
    const opened = opening.use(openChdb(dataFolder, log))
    await migrateTraceDb(opened)
    return opened
  })
  const control = await named('control database', at('control.sqlite'), async () => {
    const opened = opening.use(openSqlite(dataFolder, (error) => writeFailures.note('control_db', error)))
    await migrateControlDb(opened)
    return opened
  })
  const blobs = await named('file store', at('blobs'), async () =>
    opening.use(await openFileBlobs(dataFolder)),
  )
  const brokenParts = await findBrokenParts(traces, log)
  const opened = opening.move()
  return {
    traces: {
      ...traces,
      insert: (...rows) => writeFailures.watched('trace_db', () => traces.insert(...rows)),
      command: (query) => writeFailures.watched('trace_db', () => traces.command(query)),
    },
    control,
    blobs: { ...blobs, put: (...blob) => writeFailures.watched('blobs', () => blobs.put(...blob)) },
    writeFailures,
    brokenParts,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function named<Store>(store: string, path: string, open: () => Promise<Store>): Promise<Store> {
  try {
    return await open()
  } catch (error) {
    const causes = [...new Set(causesOf(error))].join(': ')
    throw new Error(`The ${store} ${path} cannot be opened: ${causes}`, { cause: error })
  }
}

/** What an error says, and what was behind it. */
function causesOf(error: unknown): string[] {
  const cause = error instanceof Error ? error.cause : undefined
  return [messageOf(error), ...(cause === undefined ? [] : causesOf(cause))]
}
