import { dependencyFailed } from '../../errors.ts'
import { createTableRepair, type RepairDeps, rowsOf } from './table-repair.ts'

/** What a merge replaced stays on disk for 8 minutes, so that a merge that was not written can be taken back until then. */
const LOOK_EVERY_MS = 10_000

const FAILED_WRITES = `SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'`

/**
 * chDB counts the writes of files that fail and goes on as if they had not (26.7): an insert is acknowledged, or a merge
 * takes the place of what it merged, and the files are empty. So that count is looked at after every change. When it has
 * risen, tables with a broken part are repaired (`table-repair.ts`).
 */
export function createLostWrites(deps: RepairDeps) {
  const { repair, failed, hasClosed, repairs } = createTableRepair(deps)
  let latest = 0
  let mended = 0
  let mending: Promise<void> = Promise.resolve()
  let lookedAt = new Date()

  async function failedWrites(): Promise<number> {
    const [row] = await rowsOf<{ value: number }>(deps.session, FAILED_WRITES)
    latest = Math.max(latest, row?.value ?? 0)
    return latest
  }

  async function mend(count: number): Promise<void> {
    if (count <= mended && !hasClosed()) return
    await repair(lookedAt.getTime() - 1_000)
    mended = Math.max(mended, count)
  }

  /** Mends what has been broken since the count was `before`; whether there may have been something. */
  async function lostSince(before: number): Promise<boolean> {
    const at = new Date()
    const count = await failedWrites()
    if (count === before && count === mended && !hasClosed()) {
      lookedAt = at
      return false
    }
    // What cannot be mended now is tried again with the next look.
    mending = mending.then(() => mend(count)).catch(failed)
    await mending
    return count > before
  }

  function look(): void {
    lostSince(latest).catch(failed)
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()

  return {
    /** Runs a change; `kept` rejects with 503 when it may not have been written, of which it hears some milliseconds later. */
    async watched(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }> {
      const before = latest
      try {
        await change()
      } catch (error) {
        throw isOfDisk(error) ? diskFails(error) : error
      }
      const kept = lostSince(before).then((isLost) => {
        if (isLost) throw diskFails(new Error('writes of files have failed'))
      })
      return { kept }
    },
    /** Looks at once, after a read that failed. */
    look,
    repairs,
    stop: () => clearInterval(timer),
  }
}

/** ClickHouse's codes: CANNOT_FSYNC, NOT_ENOUGH_SPACE, CANNOT_WRITE_TO_FILE_DESCRIPTOR, a failed rename, a table that is being opened again. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && /Code: (204|243|75|1001|60)\b/.test(error.message)
}

function diskFails(cause: unknown): Error {
  return dependencyFailed('The disk of the trace database fails, so nothing may have been stored', cause)
}
