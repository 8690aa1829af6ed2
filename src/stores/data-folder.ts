import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The one folder with everything embedded, held by this process alone until disposal. */
export interface DataFolder extends Disposable {
  path: string
}

/**
 * Makes and locks the folder. The lock is SQLite's own file lock, which the system releases when the process ends,
 * however it ends: no stale lock files.
 * @throws Error that names the process which holds the folder.
 */
export function openDataFolder(path: string): DataFolder {
  mkdirSync(path, { recursive: true })
  const holder = join(path, 'holder.txt')
  const lock = new DatabaseSync(join(path, 'lock.sqlite'))
  try {
    lock.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (one); COMMIT',
    )
  } catch {
    lock.close()
    throw new Error(`The data folder ${path} is in use by another Heddle (${readHolder(holder)}).`)
  }
  writeFileSync(holder, `process ${process.pid}, started ${new Date().toISOString()}`)
  return { path, [Symbol.dispose]: () => lock.close() }
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return 'which has not said who it is'
  }
}
