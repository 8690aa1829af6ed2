import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, unavailable } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import type { FileBlobs } from '../blobs/files.ts'
import type { KeptBlobs } from '../blobs/kept-blobs.ts'
import { type ControlState, keepControlState, migrationsOfCopy } from '../control-db/control-copy.ts'
import type { EmbeddedTraceDb } from '../trace-db/embedded/embedded.ts'
import { databaseLinks, type FrozenTables } from '../trace-db/embedded/freeze.ts'
import { BACKED_UP, filesOf, type Snapshot, snapshotsFolder } from './snapshot.ts'

/** Writes wait no longer than this: clients give up after ten seconds and more. */
const HOLD_MS_MAX = 5_000

/** A commit of hundreds of megabytes may be in progress; it is over the next time. */
const ATTEMPTS_MAX = 5
const PAUSE_MS = 1_000

/** Takes snapshots while the stores are in use. */
export interface LiveSnapshots {
  /**
   * Writes to the trace database wait while its tables are frozen; in between, the state of the control database is
   * chosen, and from then on blobs that are deleted stay in the snapshot.
   * @param onKept called with the number of blobs that are in the snapshot so far
   * @throws 503 when the writes in progress take too long, or the disk is full
   */
  take(onKept: (blobs: number) => void, signal: AbortSignal): Promise<Snapshot>
}

export interface LiveSnapshotsDeps {
  dataFolder: string
  traces: Pick<EmbeddedTraceDb, 'holdWrites' | 'freeze' | 'unfreeze'>
  blobs: Pick<FileBlobs, 'keepInto'>
  log: Pick<Log, 'warn'>
}

/** What is kept of the moment. */
interface Moment {
  takenAt: string
  heldMs: number
  tables: FrozenTables
  control: ControlState
  blobs: KeptBlobs
}

export function createLiveSnapshots({ dataFolder, traces, blobs, log }: LiveSnapshotsDeps): LiveSnapshots {
  /** What is kept is released by `keeping`. */
  async function keepMoment(id: string, folder: string, keeping: DisposableStack): Promise<Moment> {
    const started = performance.now()
    using hold = await traces.holdWrites(HOLD_MS_MAX)
    const kept = keeping.use(blobs.keepInto(join(folder, BACKED_UP.blobs)))
    const control = keeping.use(keepControlState(dataFolder))
    const takenAt = nowIso()
    const tables = await traces.freeze(id)
    if (!hold.isHeld()) throw new Error(`Freezing the tables took longer than ${HOLD_MS_MAX} ms`)
    return { takenAt, heldMs: performance.now() - started, tables, control, blobs: kept }
  }

  /** Tries again where writes cannot be held. */
  async function moment(
    id: string,
    folder: string,
    taking: AsyncDisposableStack,
    signal: AbortSignal,
  ): Promise<Moment> {
    for (let attempt = 1; ; attempt++) {
      using keeping = new DisposableStack()
      try {
        const kept = await keepMoment(id, folder, keeping)
        taking.use(keeping.move())
        return kept
      } catch (error) {
        await traces.unfreeze(id)
        log.warn({ reason: messageOf(error), attempt }, 'no snapshot could be taken')
        if (attempt === ATTEMPTS_MAX) throw unavailable(`No snapshot could be taken: ${messageOf(error)}`)
        await delay(PAUSE_MS, undefined, { signal })
      }
    }
  }

  return {
    async take(onKept, signal) {
      const id = newId().replaceAll('-', '')
      const folder = join(snapshotsFolder(dataFolder), id)
      await using taking = new AsyncDisposableStack()
      taking.defer(() => rm(folder, { recursive: true, force: true }))
      taking.defer(() => traces.unfreeze(id))
      await mkdir(join(folder, BACKED_UP.blobs), { recursive: true })
      const { tables, takenAt, heldMs, control, blobs: kept } = await moment(id, folder, taking, signal)
      await kept.linkAll(onKept, signal)
      kept[Symbol.dispose]()
      await control.copyTo(join(folder, BACKED_UP.control))
      control[Symbol.dispose]()
      await tables.writeSmallFiles()
      const links = await databaseLinks(join(dataFolder, BACKED_UP.traces))
      const taken = taking.move()
      return {
        takenAt,
        heldMs,
        migrations: migrationsOfCopy(join(folder, BACKED_UP.control)),
        links: links.map(({ name, target }) => ({ name: `${BACKED_UP.traces}/${name}`, target })),
        async *files() {
          yield* filesOf(folder, '')
          yield* filesOf(tables.folder, `${BACKED_UP.traces}/`)
        },
        [Symbol.asyncDispose]: () => taken.disposeAsync(),
      }
    },
  }
}

/** Removes what an earlier process has left. */
export function removeSnapshots(dataFolder: string): Promise<void> {
  return rm(snapshotsFolder(dataFolder), { recursive: true, force: true })
}
