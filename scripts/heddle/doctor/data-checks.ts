/** Checks of the data folder. */
import { accessSync, constants, existsSync, globSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../../../src/config.ts'
import { messageOf } from '../../../src/errors.ts'
import { shellWord } from '../../../src/shell-word.ts'
import { checkAppliedMigrations } from '../../../src/stores/applied-migrations.ts'
import { controlMigrations } from '../../../src/stores/control-db/migrate.ts'
import { hasSqlite, readSqlite } from '../../../src/stores/control-db/sqlite.ts'
import { holderOf, openingOf, RESTORING } from '../../../src/stores/data-folder.ts'
import { findSecretKey, secretKeyFile } from '../../../src/stores/secret-key.ts'
import { brokenPartsIn } from '../broken-parts.ts'
import { refuseMoved } from '../moved-stores.ts'
import { megabytes } from '../sizes.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** Below this, a training job or a merge of the trace database may fill the disk. */
const FREE_BYTES_WARN = 5e9
const FREE_BYTES_MIN = 500e6

export function dataChecks(folder: string): Check[] {
  return [
    { name: 'data folder', run: () => dataFolder(folder) },
    { name: 'permissions', run: () => permissions(folder) },
    { name: 'disk', run: () => disk(folder) },
    { name: 'migrations', run: () => migrations(folder) },
    { name: 'broken parts', run: () => brokenParts(folder) },
  ]
}

/** Checks of what is in the folder, which depend on the settings. */
export function storeChecks(config: Config): Check[] {
  return [
    // In a database elsewhere only a server looks.
    ...(config.postgres === undefined ? [{ name: 'moves', run: () => moves(config) }] : []),
    { name: 'secret key', run: () => secretKey(config) },
  ]
}

function dataFolder(folder: string): Finding {
  if (!existsSync(folder)) return missingFolder(folder)
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const file of globSync('{*.sqlite*,holder.txt,blobs,trace-db}', { cwd: folder }))
      accessSync(join(folder, file), constants.R_OK | constants.W_OK)
  } catch (error) {
    return failed(messageOf(error), adviceOn(error, folder))
  }
  const holder = holderOf(folder)
  if (holder === undefined && existsSync(join(folder, RESTORING)))
    return failed(`A restore into ${folder} has not ended`, 'repeat it, or delete the folder')
  return ok(holder === undefined ? folder : `${folder}, in use (${holder.text})`)
}

function missingFolder(folder: string): Finding {
  try {
    accessSync(existingOf(folder), constants.W_OK | constants.X_OK)
    return ok(`${folder} does not exist yet; the first start makes it`)
  } catch (error) {
    return failed(messageOf(error), 'set HEDDLE_DATA to a folder that can be made or written to')
  }
}

/** What to do where the system refuses access to what is in a folder, by its reason. */
export function adviceOn(error: unknown, folder: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES' || code === 'EPERM') return `chown -R "$(id -un)" ${shellWord(folder)}`
  if (code === 'EROFS')
    return 'mount its file system for writing, or set HEDDLE_DATA to a folder of another one'
  return 'see the message, or set HEDDLE_DATA to another folder'
}

function permissions(folder: string): Finding {
  if (!existsSync(folder)) return ok('The first start makes the folder for its owner alone')
  const opening = openingOf(folder)
  return opening === undefined
    ? ok('It is not open to all users of this machine')
    : warning(opening.detail, opening.fix)
}

async function moves({ dataFolder: folder, clickhouse, s3 }: Config): Promise<Finding> {
  if (!hasSqlite(folder)) return ok('There is no data yet')
  await refuseMoved({ dataFolder: folder, clickhouse, s3 })
  return ok('All stores are where the settings say')
}

async function secretKey({ dataFolder: folder, secretKey: given }: Config): Promise<Finding> {
  const path = secretKeyFile(folder)
  try {
    const key = await findSecretKey(folder, given)
    if (key !== undefined) return ok(given === undefined ? path : 'It is given as a setting')
  } catch (error) {
    const isUnreadable = error instanceof Error && 'code' in error
    return failed(messageOf(error), isUnreadable ? adviceOn(error, path) : RIGHT_KEY)
  }
  if (!hasSqlite(folder)) return ok('The first start makes it')
  return warning(`${path} is missing: with a new one, no stored secret and no API key is valid`, RIGHT_KEY)
}

const RIGHT_KEY = 'put the secret.key of this data there, or set HEDDLE_SECRET_KEY'

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
  if (!hasSqlite(folder)) return ok('There is no data yet')
  await using database = readSqlite(folder)
  const { rows: checks } = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(database)
  const integrity = checks[0]?.quick_check
  if (integrity !== 'ok')
    return failed(`The control database is damaged: ${integrity}`, 'heddle restore BACKUP --data NEW_FOLDER')
  const rows = await database.selectFrom('migration_checksums').selectAll().execute()
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  const known = await controlMigrations()
  try {
    checkAppliedMigrations(known, applied)
  } catch (error) {
    return failed(messageOf(error), 'start the release of Heddle that this data was used with last')
  }
  const missing = known.size - applied.size
  return ok(missing === 0 ? `All ${known.size} are applied` : `The next start applies ${missing}`)
}

function brokenParts(folder: string): Finding {
  const broken = brokenPartsIn(folder)
  if (broken.length === 0) return ok('There are none')
  return warning(
    `${broken.length} parts of the trace database could not be read, such as ${join(folder, broken[0] ?? '')}`,
    'see the log of the start for lost rows: heddle restore BACKUP --data NEW_FOLDER, or remove these folders',
  )
}
