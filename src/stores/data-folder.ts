import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../errors.ts'

/** The one folder with everything embedded, held by this process alone until disposal. */
export interface DataFolder extends Disposable {
  path: string
  /**
   * Tells other processes where the holder is reached.
   * @param certificate the SHA-256 of the one that it shows there, by which they know it whatever name it is for
   */
  announce(url: string, certificate?: string): void
}

/** A process that holds a data folder. */
export interface Holder {
  /** What it has written of itself. */
  text: string
  /** Where it is reached; undefined where it has not written that. */
  url: string | undefined
  /** The SHA-256 of the certificate that it shows there; undefined where it has none. */
  certificate: string | undefined
}

/**
 * Makes and locks the folder. The lock is SQLite's own file lock, which the system releases when the process ends,
 * however it ends: no stale lock files.
 * @throws Error that names the process which holds the folder, or the reason why it cannot be used.
 */
export function openDataFolder(path: string): DataFolder {
  const lock = openLock(path)
  const holder = join(path, HOLDER_FILE)
  const ownText = `process ${process.pid}, started ${new Date().toISOString()}`
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
  return {
    path,
    announce: (url, certificate) =>
      writeFileSync(
        holder,
        [ownText, url, ...(certificate ? [`certificate ${certificate}`] : [])].join(', '),
      ),
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

const SQLITE_BUSY = 5

const HOLDER_FILE = 'holder.txt'

function openLock(path: string): DatabaseSync {
  try {
    mkdirSync(path, { recursive: true })
    return new DatabaseSync(join(path, LOCK_FILE))
  } catch (error) {
    throw notUsable(path, error)
  }
}

const LOCK_FILE = 'lock.sqlite'

function notUsable(path: string, error: unknown): Error {
  const reason = messageOf(error)
  return new Error(`The data folder ${path} cannot be used: ${reason} (its lock is ${LOCK_FILE})`, {
    cause: error,
  })
}

function readHolder(path: string): Holder {
  try {
    const text = readFileSync(join(path, HOLDER_FILE), 'utf8')
    const [, url, certificate] = /(https?:\S+?)(?:, certificate (\S+))?$/.exec(text) ?? []
    return { text, url, certificate }
  } catch {
    return { text: 'which has not written its process id', url: undefined, certificate: undefined }
  }
}
