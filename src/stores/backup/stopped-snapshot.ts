import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../ids.ts'
import { nowIso } from '../../time.ts'
import { keepControlState, migrationsOfCopy } from '../control-db/control-copy.ts'
import { databaseLinks } from '../trace-db/embedded/freeze.ts'
import { untilServerEnded } from '../trace-db/embedded/last-server.ts'
import { BACKED_UP, filesOf, type Snapshot, snapshotsFolder } from './snapshot.ts'

/** Tables' files, without parts that were set aside or never completed. */
const OF_TABLES = /^trace-db\/store\/\w+\/[\w-]+\/(?!detached\/|(delete_)?tmp)/

/** Blobs, without those that were never completed. */
const OF_BLOBS = /^blobs\/(?!\.aside\/)/

/**
 * The files of a data folder that no server uses, as they are: nothing is migrated, and no database has to start. The
 * caller holds the folder's lock until disposal.
 * @throws Error when the database of a server that was killed does not end
 */
export async function takeStoppedSnapshot(dataFolder: string): Promise<Snapshot> {
  const at = (name: string): string => join(dataFolder, name)
  const folder = join(snapshotsFolder(dataFolder), newId())
  await using taking = new AsyncDisposableStack()
  await untilServerEnded(at(BACKED_UP.traces))
  taking.defer(() => rm(folder, { recursive: true, force: true }))
  await mkdir(folder, { recursive: true })
  const control = join(folder, BACKED_UP.control)
  using state = keepControlState(dataFolder)
  await state.copyTo(control)
  const links = await databaseLinks(at(BACKED_UP.traces))
  const taken = taking.move()
  return {
    takenAt: nowIso(),
    heldMs: 0,
    migrations: migrationsOfCopy(control),
    links: links.map(({ name, target }) => ({ name: `${BACKED_UP.traces}/${name}`, target })),
    async *files() {
      yield* filesOf(folder, '')
      yield* filesOf(at('trace-db/store'), 'trace-db/store/', (name) => OF_TABLES.test(name))
      yield* filesOf(at(BACKED_UP.blobs), `${BACKED_UP.blobs}/`, (name) => OF_BLOBS.test(name))
    },
    [Symbol.asyncDispose]: () => taken.disposeAsync(),
  }
}
