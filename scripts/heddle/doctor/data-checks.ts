/** Checks of the data folder. */
import { accessSync, constants, existsSync, globSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '../../../src/config.ts'
import { messageOf } from '../../../src/errors.ts'
import { type ControlDbPlace, readControlDb } from '../../../src/open-control-db.ts'
import { shellWord } from '../../../src/shell-word.ts'
import { checkAppliedMigrations } from '../../../src/stores/applied-migrations.ts'
import { appliedControlMigrations, controlMigrations } from '../../../src/stores/control-db/migrate.ts'
import type { ControlDb } from '../../../src/stores/control-db/port.ts'
import { holderOf, openingOf, RESTORING } from '../../../src/stores/data-folder.ts'
import { findSecretKey, secretKeyFile } from '../../../src/stores/secret-key.ts'
import { brokenPartsIn } from '../broken-parts.ts'
import { refuseMoved } from '../moved-stores.ts'
import { megabytes } from '../sizes.ts'
import { type Check, type Finding, failed, ok, warning } from './check.ts'

/** Below this, a training job or a merge of the trace database may fill the disk. */
const FREE_BYTES_WARN = 5e9
const FREE_BYTES_MIN = 500e6

const NO_DATA = ok('There is no data yet')

/** @param place with an address where the control database is elsewhere */
export function dataChecks(place: ControlDbPlace): Check[] {
  const { dataFolder: folder } = place
  return [
    { name: 'data folder', run: () => dataFolder(folder) },
    { name: 'permissions', run: () => permissions(folder) },
    { name: 'disk', run: () => disk(folder) },
    { name: 'migrations', run: () => migrations(place) },
    { name: 'broken parts', run: () => brokenParts(folder) },
  ]
}

/** Checks of what starts ask the stores, which depend on the settings. */
export function storeChecks(config: Config): Check[] {
  return [
    { name: 'moves', run: () => moves(config) },
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

async function moves(config: Config): Promise<Finding> {
  await refuseMoved(config)
  return ok('All stores are where the settings say')
}

async function secretKey({ dataFolder: folder, secretKey: given, postgres }: Config): Promise<Finding> {
  const path = secretKeyFile(folder)
  try {
    const key = await findSecretKey(folder, given)
    if (key !== undefined) return ok(given === undefined ? path : 'It is given as a setting')
  } catch (error) {
    const isUnreadable = error instanceof Error && 'code' in error
    return failed(messageOf(error), isUnreadable ? adviceOn(error, path) : RIGHT_KEY)
  }
  await using control = await readControlDb({ dataFolder: folder, postgres })
  if (control === undefined || (await appliedControlMigrations(control)).size === 0)
    return ok('The first start makes it')
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

async function migrations(place: ControlDbPlace): Promise<Finding> {
  await using control = await readControlDb(place)
  if (control === undefined) return NO_DATA
  const damage = place.postgres === undefined ? await damageOf(control) : undefined
  if (damage !== undefined)
    return failed(`The control database is damaged: ${damage}`, 'heddle restore BACKUP --data NEW_FOLDER')
  const applied = await appliedControlMigrations(control)
  if (applied.size === 0) return NO_DATA
  const known = await controlMigrations()
  try {
    checkAppliedMigrations(known, applied)
  } catch (error) {
    return failed(messageOf(error), 'start the release of Heddle that this data was used with last')
  }
  const missing = known.size - applied.size
  return ok(missing === 0 ? `All ${known.size} are applied` : `The next start applies ${missing}`)
}

/** What is wrong with the file of an embedded control database. */
async function damageOf(control: ControlDb): Promise<string | undefined> {
  const { rows } = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(control)
  const found = rows[0]?.quick_check ?? 'no answer'
  return found === 'ok' ? undefined : found
}

function brokenParts(folder: string): Finding {
  const broken = brokenPartsIn(folder)
  if (broken.length === 0) return ok('There are none')
  return warning(
    `${broken.length} parts of the trace database could not be read, such as ${join(folder, broken[0] ?? '')}`,
    'see the log of the start for lost rows: heddle restore BACKUP --data NEW_FOLDER, or remove these folders',
  )
}
