/** Checks of the data folder. */
import { accessSync, constants, existsSync, globSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../../../src/errors.ts'
import { checkAppliedMigrations } from '../../../src/stores/applied-migrations.ts'
import { controlMigrations } from '../../../src/stores/control-db/migrate.ts'
import { CONTROL_FILE } from '../../../src/stores/control-db/sqlite.ts'
import { holderOf, RESTORING } from '../../../src/stores/data-folder.ts'
import { brokenPartsIn } from '../broken-parts.ts'
import { megabytes } from '../sizes.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** Below this, a training job or a merge of the trace database may fill the disk. */
const FREE_BYTES_WARN = 5e9
const FREE_BYTES_MIN = 500e6

export function dataChecks(folder: string): Check[] {
  return [
    { name: 'data folder', look: () => dataFolder(folder) },
    { name: 'disk', look: () => disk(folder) },
    { name: 'migrations', look: () => migrations(folder) },
    { name: 'broken parts', look: () => brokenParts(folder) },
  ]
}

function dataFolder(folder: string): Finding {
  if (!existsSync(folder)) return ok(`${folder} does not exist yet; the first start makes it`)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const file of globSync('{*.sqlite*,holder.txt,blobs,trace-db}', { cwd: folder }))
      accessSync(join(folder, file), constants.R_OK | constants.W_OK)
  } catch (error) {
    return failed(messageOf(error), `chown -R "$(id -un)" ${folder}`)
  }
  const holder = holderOf(folder)
  if (holder === undefined && existsSync(join(folder, RESTORING)))
    return failed(`A restore into ${folder} has not ended`, 'repeat it, or delete the folder')
  return ok(holder === undefined ? folder : `${folder}, in use (${holder.text})`)
}

function disk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existingOf(folder))
  const free = bavail * bsize
  const detail = `${megabytes(free)} are free`
  if (free < FREE_BYTES_MIN)
    return failed(detail, 'free some space, or set HEDDLE_DATA to a folder of another disk')
  return free < FREE_BYTES_WARN ? warning(detail, 'free some space before it is full') : ok(detail)
}

/** The folder itself, or the first above it that exists. */
function existingOf(folder: string): string {
  return existsSync(folder) ? folder : existingOf(dirname(folder))
}

async function migrations(folder: string): Promise<Finding> {
  const path = join(folder, CONTROL_FILE)
  if (!existsSync(path)) return ok('There is no data yet')
  const url = pathToFileURL(path)
  // Without its log there is nothing to read beside the file, and SQLite would make files there.
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1')
  using database = openReadOnly(url)
  const [check] = database.all('PRAGMA quick_check(1)')
  const integrity = check?.['quick_check']
  if (integrity !== 'ok')
    return failed(`The control database is damaged: ${integrity}`, 'heddle restore BACKUP --data NEW_FOLDER')
  const rows = database.all('SELECT name, checksum FROM migration_checksums')
  const applied = new Map(rows.map(({ name, checksum }) => [String(name), String(checksum)]))
  const known = await controlMigrations()
  try {
    checkAppliedMigrations(known, applied)
  } catch (error) {
    return failed(messageOf(error), 'start the release of Heddle that this data was used with last')
  }
  const missing = known.size - applied.size
  return ok(missing === 0 ? `All ${known.size} are applied` : `The next start applies ${missing}`)
}

function openReadOnly(url: URL): Disposable & { all(sql: string): Record<string, unknown>[] } {
  const database = new DatabaseSync(url, { readOnly: true })
  return { all: (sql) => database.prepare(sql).all(), [Symbol.dispose]: () => database.close() }
}

function brokenParts(folder: string): Finding {
  const broken = brokenPartsIn(folder)
  if (broken.length === 0) return ok('There are none')
  return warning(
    `${broken.length} parts of the trace database could not be read, such as ${join(folder, broken[0] ?? '')}`,
    'see the log of the start for lost rows: heddle restore BACKUP --data NEW_FOLDER, or remove these folders',
  )
}
