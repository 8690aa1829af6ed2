import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../errors.ts'

/** The one folder with everything embedded, held by this process alone until disposal. */
export interface DataFolder extends Disposable {
  path: string
}

/**
 * Makes and locks the folder. The lock is SQLite's own file lock, which the system releases when the process ends,
 * however it ends: no stale lock files.
 * @throws Error that names the process which holds the folder, or the reason why it cannot be used.
 */
export function openDataFolder(path: string): DataFolder {
  const lock = openLock(path)
  const holder = join(path, 'holder.txt')
  try {
    lock.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (one); COMMIT',
    )
    writeFileSync(holder, `process ${process.pid}, started ${new Date().toISOString()}`)
  } catch (error) {
    lock.close()
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw notUsable(path, error)
    throw new Error(`The data folder ${path} is in use by another Heddle (${readHolder(holder)}).`)
  }
  return { path, [Symbol.dispose]: () => lock.close() }
}

const SQLITE_BUSY = 5

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

function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return 'which has not said who it is'
  }
}
