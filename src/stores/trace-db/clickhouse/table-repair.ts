import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { TableRepairs } from '../port.ts'
import { codeOf } from './read-errors.ts'
import type { Requests } from './server.ts'

/** A table cannot be reopened while a query reads it, and no query may take longer than this. */
const REOPEN_MS_MAX = 70_000
const REOPEN_RETRY_MS = 20

const NO_SUCH_DATA_PART = 232
const TABLE_ALREADY_EXISTS = 57

export interface RepairDeps {
  requests: Requests
  log: Pick<Log, 'error' | 'warn'>
}

/**
 * Finds tables with a broken part and reopens them; ClickHouse then detaches the part and restores the parts that it
 * was merged from.
 */
export interface TableRepair {
  /**
   * Repairs tables whose parts were written since a time in milliseconds. @throws Error; a failed repair is repeated.
   */
  repair(since: number): Promise<void>
  /** Logs and counts a repair that failed. */
  failed(error: unknown): void
  hasClosed(): boolean
  repairs(): TableRepairs
}

export function createTableRepair({ requests, log }: RepairDeps): TableRepair {
  const counts = { done: 0, failed: 0 }
  /** Tables between closing and opening. */
  const closed = new Set<string>()
  /** Their broken parts. */
  const setAside = new Map<string, string[]>()

  async function isBroken(table: string, part: string): Promise<boolean> {
    const check = `CHECK TABLE ${table} PART '${part}' SETTINGS check_query_single_value_result = 0`
    try {
      return (await requests.rows<{ is_passed: number }>(check)).some((row) => row.is_passed === 0)
    } catch (error) {
      // A merge has removed it meanwhile, so no query reads it any more.
      if (codeOf(error) === NO_SUCH_DATA_PART) return false
      throw error
    }
  }

  async function open(table: string): Promise<void> {
    const giveUpAt = performance.now() + REOPEN_MS_MAX
    for (;;) {
      try {
        return await requests.run(`ATTACH TABLE ${table}`)
      } catch (error) {
        // Wire: a table that queries still use has the code of one that exists as well.
        const isUsed = messageOf(error).includes('still used')
        // A server that was started again has opened it, or the reply to an earlier try was lost.
        if (!isUsed && codeOf(error) === TABLE_ALREADY_EXISTS) return
        if (!isUsed || performance.now() > giveUpAt) throw error
        await delay(REOPEN_RETRY_MS)
      }
    }
  }

  /**
   * The rows of such a part were refused, or are in the parts that it was merged from; if kept, it would be reported as
   * a loss.
   */
  async function dropSetAside(table: string): Promise<void> {
    const parts = setAside.get(table) ?? []
    setAside.delete(table)
    for (const part of parts) {
      const drop = `ALTER TABLE ${table} DROP DETACHED PART 'broken-on-start_${part}' SETTINGS allow_drop_detached = 1`
      await requests
        .run(drop)
        .catch((error: unknown) =>
          log.warn({ table, part, err: error }, 'a part that was not written is left in its folder'),
        )
    }
  }

  /** @throws Error when a table stays closed; the others have been reopened then. */
  async function openClosed(): Promise<void> {
    const failures: unknown[] = []
    for (const table of closed) {
      try {
        await open(table)
        closed.delete(table)
        counts.done++
        await dropSetAside(table)
      } catch (error) {
        failures.push(new Error(`Table ${table} could not be opened: ${messageOf(error)}`, { cause: error }))
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
  }

  async function repair(since: number): Promise<void> {
    const parts = await requests.rows<{ table: string; name: string }>(
      `SELECT table, name FROM system.parts
        WHERE database = currentDatabase() AND active AND modification_time >= fromUnixTimestamp64Milli({since:Int64})`,
      { since },
    )
    try {
      for (const { table, name } of parts) {
        if (!(await isBroken(table, name))) continue
        log.warn({ table, part: name }, 'a write of the trace database was lost: its table is opened again')
        setAside.set(table, [...(setAside.get(table) ?? []), name])
      }
      for (const table of setAside.keys()) {
        if (closed.has(table)) continue
        await requests.run(`DETACH TABLE ${table}`)
        closed.add(table)
      }
    } finally {
      await openClosed()
    }
  }

  function failed(error: unknown): void {
    counts.failed++
    const detached = [...closed]
    log.error({ err: error, detached }, 'the trace database could not be repaired: it is tried again')
  }

  return {
    repair,
    failed,
    hasClosed: () => closed.size > 0,
    repairs: () => ({ ...counts, detached: [...closed] }),
  }
}
