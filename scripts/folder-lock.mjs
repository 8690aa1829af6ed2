// @ts-check
/**
 * Locks of the folders that set-up fills: clones of one user share them, and may be set up at once. Plain JavaScript as
 * `run.mjs`, which takes one too.
 */
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** The holder of a lock touches it this often. */
const LOCK_BEAT_MS = 1_000

/**
 * A lock that was not touched for this long has lost its holder, even where another process has its process id since.
 */
const LOCK_SILENT_MS = 30_000

/** A process that waits for a lock looks this often. */
const LOOK_MS = 500

/** @param {string} lock */
function touch(lock) {
  try {
    utimesSync(lock, new Date(), new Date())
  } catch {
    // Another process took it for abandoned, as after a laptop slept; the result is complete or will be made again.
  }
}

/**
 * The process id in a lock that its holder still touches; undefined for any other lock, and without one.
 * @param {string} lock
 */
function holderOf(lock) {
  try {
    const holder = Number(readFileSync(lock, 'utf8'))
    return isAlive(holder) && Date.now() - statSync(lock).mtimeMs <= LOCK_SILENT_MS ? holder : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Makes the lock, with the process id in it from its first moment on. @returns whether there was none
 * @param {string} lock
 */
function take(lock) {
  const own = `${lock}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, lock)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

/**
 * Removes a lock whose holder is gone; one that another process has made meanwhile is put back.
 * @param {string} lock
 */
function removeAbandoned(lock) {
  const aside = `${lock}.${process.pid}.abandoned`
  try {
    renameSync(lock, aside)
    if (holderOf(aside) !== undefined) linkSync(aside, lock)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/**
 * Only one process at a time fills a folder: resolves with what releases the lock, once no other live process holds it.
 * @param {string} folder
 * @param {AbortSignal} [signal] gives up waiting for it
 * @returns {Promise<() => void>}
 * @throws Error where the lock cannot be written
 */
export async function lockFolder(folder, signal) {
  const lock = `${folder}.lock`
  mkdirSync(join(folder, '..'), { recursive: true })
  for (let told = false; !take(lock); ) {
    signal?.throwIfAborted()
    const holder = holderOf(lock)
    if (holder === undefined) removeAbandoned(lock)
    else if (!told) process.stderr.write(`Waiting for process ${holder}, which is making ${folder}\n`)
    told ||= holder !== undefined
    await new Promise((wake) => setTimeout(wake, LOOK_MS))
  }
  const beat = setInterval(() => touch(lock), LOCK_BEAT_MS)
  return () => {
    clearInterval(beat)
    if (holderOf(lock) === process.pid) rmSync(lock, { force: true })
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** @param {number} pid */
function isAlive(pid) {
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's.
    return codeOf(error) === 'EPERM'
  }
}
