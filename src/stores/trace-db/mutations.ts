import { setTimeout as delay } from 'node:timers/promises'
import { inOrder } from '../../in-order.ts'
import { firstOf, type Query, type TraceDb } from './port.ts'

/** A mutation takes from a tenth of a second to minutes. */
const POLL_MS = 200

/** Parts that were replaced are removed by the database in its own time. */
const GONE_POLL_MS = 1_000

/**
 * Changes of rows that exist: each rewrites every part of a table that has such rows, with its indexes and copies. They
 * run one after the other, in the background of the database, beside inserts and reads.
 */
export interface Mutations {
  /**
   * Runs commands such as `DELETE WHERE …` as one change of a table; resolves when all parts are rewritten. The
   * database finishes it even when the wait for it is aborted.
   */
  run(table: string, commands: readonly string[], params: Query['params'], signal: AbortSignal): Promise<void>
  /**
   * Marks rows as deleted for which a condition holds, which takes less time than to rewrite their parts; resolves when
   * all are marked. {@link applyDeletions} removes them.
   */
  markDeleted(table: string, where: string, params: Query['params'], signal: AbortSignal): Promise<void>
  /** Rewrites a table where rows that `DELETE FROM` has only marked have been there since before a time. */
  applyDeletions(table: string, before: string, signal: AbortSignal): Promise<void>
  /** Resolves once no files are on the disk of parts that were replaced before the call. */
  untilGone(signal: AbortSignal): Promise<void>
}

export function createMutations(traces: Pick<TraceDb, 'query' | 'command'>): Mutations {
  const inTurn = inOrder()

  /**
   * How many changes of a table are not finished.
   * @throws why they cannot be finished, such as a full disk; the database tries on
   */
  async function openChanges(table: string): Promise<number> {
    const found = await firstOf(traces.query<{ open: number; reason: string }>(selectOpen(table)))
    if (found !== undefined && found.reason !== '')
      throw new Error(`Rows of ${table} cannot be removed yet: ${found.reason}`)
    return found?.open ?? 0
  }

  /**
   * Makes a statement that only begins a change, so that writes wait for none, and waits until the change is finished.
   */
  function change(table: string, statement: Query, signal: AbortSignal): Promise<void> {
    return inTurn(async () => {
      signal.throwIfAborted()
      // Changes are made in order: behind one that fails, each attempt would only add another.
      await openChanges(table)
      await traces.command(statement)
      while ((await openChanges(table)) > 0) await delay(POLL_MS, undefined, { signal })
    })
  }

  function alter(table: string, commands: readonly string[], params: Query['params'], signal: AbortSignal) {
    const sql = `ALTER TABLE ${table} ${commands.join(', ')} SETTINGS mutations_sync = 0`
    return change(table, { sql, params }, signal)
  }

  let poll: Promise<number> | undefined

  /**
   * Looks once a second for all that wait, and never before the call. Resolves with when the oldest part was replaced
   * whose files are still there, in seconds since 1970; infinity without one.
   */
  function nextLook(): Promise<number> {
    poll ??= delay(GONE_POLL_MS).then(async () => {
      poll = undefined
      return (await firstOf(traces.query<{ oldest: number | null }>(OLDEST_REPLACED)))?.oldest ?? Infinity
    })
    return poll
  }

  return {
    run: alter,

    markDeleted(table, where, params, signal) {
      const sql = `DELETE FROM ${table} WHERE ${where} SETTINGS lightweight_deletes_sync = 0`
      return change(table, { sql, params }, signal)
    },

    async applyDeletions(table, before, signal) {
      const marked = await firstOf(traces.query<{ count: number }>(countMarked(table, before)))
      if (marked === undefined || marked.count === 0) return
      await alter(table, ['APPLY DELETED MASK'], {}, signal)
    },

    async untilGone(signal) {
      const now = Math.floor(Date.now() / 1000)
      while ((await nextLook()) <= now) signal.throwIfAborted()
    },
  }
}

function selectOpen(table: string): Query {
  return {
    sql: `SELECT count() AS open, max(latest_fail_reason) AS reason FROM system.mutations
      WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done`,
    params: { table },
  }
}

/** Parts with rows that are only marked; merging a part, which makes a new one, removes its marked rows. */
function countMarked(table: string, before: string): Query {
  return {
    sql: `SELECT count() AS count FROM system.parts WHERE database = currentDatabase() AND table = {table:String}
      AND active AND has_lightweight_delete AND modification_time <= parseDateTimeBestEffort({before:String})`,
    params: { table, before },
  }
}

/** The time at which a part was replaced is unknown, 0, after a start; without such parts the answer is NULL. */
const OLDEST_REPLACED: Query = {
  sql: `SELECT minOrNull(toUnixTimestamp(remove_time)) AS oldest FROM system.parts
    WHERE database = currentDatabase() AND NOT active`,
  params: {},
}
