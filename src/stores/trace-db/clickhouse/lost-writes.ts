import { ClientError } from '../../../errors.ts'
import { inOrder } from '../../../in-order.ts'
import type { TableRepairs } from '../port.ts'
import { isUnanswered } from './server.ts'
import { createTableRepair, type RepairDeps } from './table-repair.ts'
import { diskFails, writeError } from './write-errors.ts'

/** Merged parts stay on disk for 8 minutes, so that a merge whose result was not written can be undone until then. */
const CHECK_EVERY_MS = 10_000

const FAILED_WRITES = `SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'`

/**
 * ClickHouse counts failed file writes and continues as if they had succeeded (26.7): an insert is acknowledged, or a
 * merge replaces its sources, and the files are empty. So that counter is read after every change. When it has risen,
 * tables with a broken part are repaired (`table-repair.ts`).
 */
export interface LostWrites {
  /**
   * Runs a change, which fails as `writeError` says; `kept` rejects with 503 when the change may not have been written,
   * which is known some milliseconds later.
   */
  watched(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }>
  /** Checks at once, after a failed read. */
  check(): void
  repairs(): TableRepairs
  stop(): void
}

/** Writes of tables whose every insert is on several machines, which replace a part that one of them has lost. */
export function trustWrites(): LostWrites {
  return {
    async watched(change) {
      try {
        await change()
      } catch (error) {
        throw writeError(error)
      }
      return { kept: Promise.resolve() }
    },
    check: () => undefined,
    repairs: () => ({ done: 0, failed: 0, detached: [] }),
    stop: () => undefined,
  }
}

export function createLostWrites(deps: RepairDeps): LostWrites {
  const { repair, failed, hasClosed, repairs } = createTableRepair(deps)
  let latest = 0
  let repaired = 0
  const inTurn = inOrder()
  let lookedAt = new Date()

  async function failedWrites(): Promise<number> {
    const [row] = await deps.requests.rows<{ value: number }>(FAILED_WRITES)
    const count = row?.value ?? 0
    // The counter of a server that was started again begins anew.
    if (count < latest) repaired = 0
    latest = count
    return count
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
    await inTurn(() => repairUpTo(count)).catch(failed)
    return count !== before
  }

  function check(): void {
    // A database that does not answer has lost nothing by that.
    lostSince(latest).catch((error: unknown) => {
      if (!isUnanswered(error) && !(error instanceof ClientError)) failed(error)
    })
  }

  const timer = setInterval(check, CHECK_EVERY_MS).unref()

  async function isKept(before: number): Promise<void> {
    try {
      if (!(await lostSince(before))) return
    } catch (error) {
      throw writeError(error)
    }
    throw diskFails(new Error('writes of files have failed'))
  }

  async function watched(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }> {
    const before = latest
    try {
      await change()
    } catch (error) {
      throw writeError(error)
    }
    return { kept: isKept(before) }
  }

  return { watched, check, repairs, stop: () => clearInterval(timer) }
}
