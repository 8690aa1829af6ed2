/** Locks of the folders that set-up fills: clones of one user share them, and may be set up at once. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The holder of a lock touches it this often. */
const LOCK_BEAT_MS = 1_000

/**
 * A lock that was not touched for this long has lost its holder, even where another process has its process id since.
 */
const LOCK_SILENT_MS = 30_000

function touch(lock: string): void {
  try {
    utimesSync(lock, new Date(), new Date())
  } catch {
    // Another process took it for abandoned, as after a laptop slept; the result is complete or will be made again.
  }
}

function isSilent(lock: string): boolean {
  const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
  return Date.now() - mtimeMs > LOCK_SILENT_MS
}

/**
 * Only one process at a time fills a folder: resolves with what releases the lock, once no other live process holds it.
 * @param signal gives up waiting for it
 */
export async function lockFolder(folder: string, signal?: AbortSignal): Promise<() => void> {
  const lock = `${folder}.lock`
  mkdirSync(join(folder, '..'), { recursive: true })
  for (let told = false; ; told = true) {
    signal?.throwIfAborted()
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      const beat = setInterval(() => touch(lock), LOCK_BEAT_MS)
      return () => {
        clearInterval(beat)
        rmSync(lock, { force: true })
      }
    } catch {
      const holder = Number(existsSync(lock) ? readFileSync(lock, 'utf8') : 0)
      if (!isAlive(holder) || isSilent(lock)) rmSync(lock, { force: true })
      else if (!told) process.stderr.write(`Waiting for process ${holder}, which is making ${folder}\n`)
      await new Promise((wake) => setTimeout(wake, 500))
    }
  }
}

function isAlive(pid: number): boolean {
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
