import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../errors.ts'
import { shellWord } from '../shell-word.ts'
import { FOLDER_MODE } from './folder-mode.ts'

/** The one folder with everything embedded, held by this process alone until disposal. */
export interface DataFolder extends Disposable {
  path: string
  /**
   * Tells other processes where the holder is reached.
   * @param certificate the SHA-256 of the one that it shows there, by which they know it whatever name it is for
   */
  announce(url: string, certificate?: string): void
  /** Removes the files of the lock, where the folder is given up; the lock itself is held until disposal. */
  removeLock(): void
}

/** What a process holds a data folder for. */
export type DataFolderUse = 'server' | 'backup' | 'move' | 'restore'

/** A process that holds a data folder. */
export interface Holder {
  /** What it has written of itself. */
  text: string
  /** Undefined where it has not written that. */
  use: DataFolderUse | undefined
  /** Where it is reached; undefined where it has not written that. */
  url: string | undefined
  /** The SHA-256 of the certificate that it shows there; undefined where it has none. */
  certificate: string | undefined
}

/**
 * Makes and locks the folder. The lock is SQLite's own file lock, which the system releases when the process ends,
 * however it ends: no stale lock files.
 * @throws Error that names the process which holds the folder, or the reason why it cannot be used, such as a restore
 * that has not ended
 */
export function openDataFolder(path: string, use: DataFolderUse): DataFolder {
  const lock = openLock(path)
  const holder = join(path, HOLDER_FILE)
  const ownText = `process ${process.pid}, a ${use}, started ${new Date().toISOString()}`
  try {
    lock.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (one); COMMIT',
    )
    writeFileSync(holder, ownText)
  } catch (error) {
    lock.close()
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw notUsable(path, error)
    throw new Error(`The data folder ${path} is in use by another Heddle (${readHolder(path).text}).`)
  }
  if (use !== 'restore' && existsSync(join(path, RESTORING))) {
    lock.close()
    throw new Error(`A restore into the data folder ${path} has not ended: repeat it, or delete the folder`)
  }
  return {
    path,
    announce: (url, certificate) =>
      writeFileSync(
        holder,
        [ownText, url, ...(certificate ? [`certificate ${certificate}`] : [])].join(', '),
      ),
    removeLock() {
      for (const name of LOCK_FILES) rmSync(join(path, name), { force: true })
    },
    [Symbol.dispose]: () => lock.close(),
  }
}

/**
 * The process that holds a data folder; undefined where none does. Changes nothing.
 * @throws Error with the reason why that cannot be found out
 */
export function holderOf(path: string): Holder | undefined {
  if (!existsSync(join(path, LOCK_FILE))) return undefined
  try {
    using lock = new DatabaseSync(join(path, LOCK_FILE), { readOnly: true })
    lock.exec('SELECT count(*) FROM sqlite_schema')
    return undefined
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw notUsable(path, error)
    return readHolder(path)
  }
}

/**
 * Makes a data folder, and those above it, for its owner alone. One that exists stays as it is: it may be shared with a
 * group on purpose.
 * @returns whether there was none
 */
export function makeDataFolder(path: string): boolean {
  if (isFolder(path)) return false
  // One by one: all at once, Node tries for ever in a folder such as /proc, which refuses new names as missing.
  makeDataFolder(dirname(path))
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
    return true
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(path)) return false
    throw error
  }
}

/** The access that all users of the machine have to a data folder. */
export interface Opening {
  /** Who has access, for people. */
  detail: string
  /** The command that keeps them out. */
  fix: string
}

/**
 * The access of all users of the machine to a data folder; undefined where they have none. Access of a group is the
 * operator's choice, and only the owner can change the mode: volumes of Kubernetes belong to root.
 */
export function openingOf(path: string): Opening | undefined {
  const { mode: bits, uid } = statSync(path)
  const mode = bits & 0o777
  if ((mode & OF_ALL) === 0 || uid !== process.getuid?.()) return undefined
  return {
    detail: `${path} is open to all users of this machine (mode ${mode.toString(8)})`,
    fix: `chmod go-rwx ${shellWord(path)}`,
  }
}

/** The bits of a mode for users who are neither the owner nor of the group. */
const OF_ALL = 0o007

const SQLITE_BUSY = 5

const HOLDER_FILE = 'holder.txt'
const LOCK_FILE = 'lock.sqlite'

/** Files of the lock, as long as it is held. */
export const LOCK_FILES: readonly string[] = [LOCK_FILE, `${LOCK_FILE}-journal`, HOLDER_FILE]

/** In a data folder from the begin of a restore to its end: what is restored is here until all of it is. */
export const RESTORING = '.restoring'

function openLock(path: string): DatabaseSync {
  try {
    makeDataFolder(path)
    return new DatabaseSync(join(path, LOCK_FILE))
  } catch (error) {
    throw notUsable(path, error)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function notUsable(path: string, error: unknown): Error {
  const reason = messageOf(error)
  return new Error(`The data folder ${path} cannot be used: ${reason} (its lock is ${LOCK_FILE})`, {
    cause: error,
  })
}

function readHolder(path: string): Holder {
  try {
    const text = readFileSync(join(path, HOLDER_FILE), 'utf8')
    const [, use] = /^process \d+, a (server|backup|move|restore),/.exec(text) ?? []
    const [, url, certificate] = /(https?:\S+?)(?:, certificate (\S+))?$/.exec(text) ?? []
    return { text, use: use as DataFolderUse | undefined, url, certificate }
  } catch {
    const text = 'which has not written its process id'
    return { text, use: undefined, url: undefined, certificate: undefined }
  }
}
