import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { givenSettings } from '../../src/settings/given-settings.ts'
import { readStoresElsewhere } from '../../src/settings/stores-elsewhere.ts'
import { refusalOfBackup, storesElsewhere } from '../../src/stores/backup/no-snapshots.ts'
import { BACKED_UP } from '../../src/stores/backup/snapshot.ts'
import { takeStoppedSnapshot } from '../../src/stores/backup/stopped-snapshot.ts'
import { checkTarget, writeBackup } from '../../src/stores/backup/write-backup.ts'
import { requireSqlite } from '../../src/stores/control-db/sqlite.ts'
import { openDataFolder } from '../../src/stores/data-folder.ts'
import type { BackupRes } from '../../src/system/backup/wire.ts'
import { VERSION } from '../../src/version.ts'
import { onInterrupt } from '../on-interrupt.ts'
import type { Progress } from '../progress.ts'
import { brokenPartsIn } from './broken-parts.ts'
import { refuseMoved } from './moved-stores.ts'
import { megabytes } from './sizes.ts'

/** The end of a backup, as a server reports it. */
export type Done = Extract<BackupRes, { state: 'done' }>

/** Backs up a data folder that no server holds. @throws Error where one does, or a store is elsewhere */
export async function backupStopped(data: string, to: string, progress: Progress | undefined): Promise<Done> {
  refuseElsewhere(data)
  using interrupt = onInterrupt('Interrupted')
  using _held = openDataFolder(data, 'backup')
  // Without the settings of its new place, a folder that was moved away looks like one in use.
  await refuseMoved({ dataFolder: data })
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

/** For stores that the settings place elsewhere, and for those that the folder never had: a first start makes each. */
function refuseElsewhere(data: string): void {
  const settings = readStoresElsewhere(givenSettings(process.env).env)
  if (settings.postgres === undefined) requireSqlite(data)
  const isIn = (name: string): boolean => existsSync(join(data, name))
  const elsewhere = storesElsewhere({
    clickhouse: settings.clickhouse ?? (isIn(BACKED_UP.traces) ? undefined : 'absent'),
    postgres: settings.postgres,
    s3: settings.s3 ?? (isIn(BACKED_UP.blobs) ? undefined : 'absent'),
  })
  if (elsewhere.length > 0) throw new Error(refusalOfBackup(elsewhere))
}
