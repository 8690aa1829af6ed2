import { dependencyFailed } from '../../errors.ts'
import type { TableRepairs } from './port.ts'
import { createTableRepair, type RepairDeps, rowsOf } from './table-repair.ts'

/** Merged parts stay on disk for 8 minutes, so that a merge whose result was not written can be undone until then. */
const LOOK_EVERY_MS = 10_000

const FAILED_WRITES = `SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'`

/**
 * chDB counts failed file writes and continues as if they had succeeded (26.7): an insert is acknowledged, or a merge
 * replaces its sources, and the files are empty. So that counter is read after every change. When it has risen, tables
 * with a broken part are repaired (`table-repair.ts`).
 */
export interface LostWrites {
  /**
   * Runs a change; `kept` rejects with 503 when the change may not have been written, which is known some
   * milliseconds later.
   */
  watched(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }>
  /** Checks at once, after a failed read. */
  look(): void
  repairs(): TableRepairs
  stop(): void
}

export function createLostWrites(deps: RepairDeps): LostWrites {
  const { repair, failed, hasClosed, repairs } = createTableRepair(deps)
  let latest = 0
  let repaired = 0
  let repairing: Promise<void> = Promise.resolve()
  let lookedAt = new Date()

  async function failedWrites(): Promise<number> {
    const [row] = await rowsOf<{ value: number }>(deps.session, FAILED_WRITES)
    latest = Math.max(latest, row?.value ?? 0)
    return latest
  }

  async function repairUpTo(count: number): Promise<void> {
    if (count <= repaired && !hasClosed()) return
    await repair(lookedAt.getTime() - 1_000)
    repaired = Math.max(repaired, count)
  }

  /** Repairs what has broken since the counter was `before`; resolves with whether anything may have. */
  async function lostSince(before: number): Promise<boolean> {
    const at = new Date()
    const count = await failedWrites()
    if (count === before && count === repaired && !hasClosed()) {
      lookedAt = at
      return false
    }
    // A failed repair is tried again with the next check.
    repairing = repairing.then(() => repairUpTo(count)).catch(failed)
    await repairing
    return count > before
  }

  function look(): void {
    lostSince(latest).catch(failed)
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()

  async function watched(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }> {
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
  }

  return { watched, look, repairs, stop: () => clearInterval(timer) }
}

/** ClickHouse's codes: CANNOT_FSYNC, NOT_ENOUGH_SPACE, CANNOT_WRITE_TO_FILE_DESCRIPTOR, a failed rename, a table that is being opened again. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && /Code: (204|243|75|1001|60)\b/.test(error.message)
}

function diskFails(cause: unknown): Error {
  return dependencyFailed('The disk of the trace database fails, so nothing may have been stored', cause)
}
