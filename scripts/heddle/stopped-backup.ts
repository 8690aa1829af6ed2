import { givenSettings } from '../../src/given-settings.ts'
import { refusalOfBackup, storesElsewhere } from '../../src/stores/backup/no-snapshots.ts'
import { takeStoppedSnapshot } from '../../src/stores/backup/stopped-snapshot.ts'
import { checkTarget, writeBackup } from '../../src/stores/backup/write-backup.ts'
import { requireSqlite } from '../../src/stores/control-db/sqlite.ts'
import { openDataFolder } from '../../src/stores/data-folder.ts'
import { readStoresElsewhere } from '../../src/stores-elsewhere.ts'
import type { BackupRes } from '../../src/system/backup/wire.ts'
import { VERSION } from '../../src/version.ts'
import { onInterrupt } from '../on-interrupt.ts'
import type { Progress } from '../progress.ts'
import { brokenPartsIn } from './broken-parts.ts'
import { megabytes } from './sizes.ts'

/** The end of a backup, as a server reports it. */
export type Done = Extract<BackupRes, { state: 'done' }>

/** Backs up a data folder that no server holds. @throws Error where one does, or a store is elsewhere */
export async function backupStopped(data: string, to: string, progress: Progress | undefined): Promise<Done> {
  const elsewhere = storesElsewhere(readStoresElsewhere(givenSettings(process.env).env))
  if (elsewhere.length > 0) throw new Error(refusalOfBackup(elsewhere))
  requireSqlite(data)
  using interrupt = onInterrupt('Interrupted')
  using _held = openDataFolder(data)
  const target = await checkTarget(to, data)
  await using snapshot = await takeStoppedSnapshot(data)
  const { takenAt, files, bytes } = await writeBackup(
    snapshot,
    { target, version: VERSION },
    (done) => progress?.show(`${megabytes(done.bytes)} of ${megabytes(done.bytesTotal)}`),
    interrupt.signal,
  )
  return {
    state: 'done',
    path: target,
    taken_at: takenAt,
    held_ms: 0,
    files,
    bytes,
    broken_parts: brokenPartsIn(data).length,
  }
}
