import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { BucketFolders } from './bucket-folders.ts'

/** Files arrive before the list that names them; so long may an engine take to write those of one folder. */
const STALE_MS = 48 * 3_600_000

const SWEEP_EVERY_MS = 6 * 3_600_000

/** Files that one sweep sees: 100 requests of a list. The next sweep goes on behind them. */
const FILES_MAX = 100_000

/**
 * Removes files of which no folder knows: those of an engine or server that ended while it wrote them, and those that
 * several replaced at once. Now and from time to time.
 */
export function removeLeftovers(deps: {
  folders: BucketFolders
  log: Pick<Log, 'warn'>
  /** For tests. */
  staleMs?: number
  filesMax?: number
}): {
  /** Resolves with the number of files that a sweep removed, once the one in progress has ended. */
  swept(): Promise<number>
  /** Sweeps again; for tests. */
  sweep(): void
  stop(): Promise<void>
} {
  const { folders, log, staleMs = STALE_MS, filesMax = FILES_MAX } = deps
  let isStopped = false
  let after: string | undefined

  /** Removes the files of one generation where the folder has another, or is gone. */
  async function examine(keys: readonly string[], folder: string, generation: string): Promise<number> {
    const known = await folders.read(folder)
    if (known?.generation === generation) return 0
    await folders.deleteKeys(keys)
    return keys.length
  }

  async function removeStale(): Promise<number> {
    const before = Date.now() - staleMs
    let removed = 0
    let seen = 0
    let current = { folder: '', generation: '', keys: [] as string[], isOld: true }
    const end = async (): Promise<void> => {
      const { keys, isOld, folder, generation } = current
      if (keys.length === 0 || !isOld) return
      const count = await examine(keys, folder, generation)
      removed += count
    }
    for await (const { key, modifiedAt, folder, generation } of folders.files(after)) {
      if (isStopped) return removed
      if (folder !== current.folder || generation !== current.generation) {
        await end()
        after = current.keys.at(-1) ?? after
        current = { folder, generation, keys: [], isOld: true }
        if (seen >= filesMax) return removed
      }
      seen++
      current.keys.push(key)
      current.isOld &&= modifiedAt < before
    }
    await end()
    after = undefined
    return removed
  }

  async function sweepOnce(): Promise<number> {
    try {
      const count = await removeStale()
      if (count > 0) log.warn({ count }, 'files of the workspace that no folder has were removed')
      return count
    } catch (error) {
      if (!isStopped)
        log.warn({ reason: messageOf(error) }, 'leftovers of the workspace could not be looked for')
      return 0
    }
  }

  let sweeping = sweepOnce()
  const sweep = (): void => {
    sweeping = sweeping.then(sweepOnce)
  }
  const timer = setInterval(sweep, SWEEP_EVERY_MS).unref()

  return {
    swept: () => sweeping,
    sweep,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await sweeping
    },
  }
}
