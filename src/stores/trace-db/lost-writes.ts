import { setTimeout as delay } from 'node:timers/promises'
import type { Session } from 'chdb'
import { dependencyFailed, messageOf } from '../../errors.ts'
import { jsonLines } from './json-lines.ts'

/** What a merge replaced stays on disk for 8 minutes, so that a merge that was not written can be taken back until then. */
const LOOK_EVERY_MS = 10_000

/** A table cannot be opened again while a query reads it, and no query may take longer than this. */
const REOPEN_MS_MAX = 70_000
const REOPEN_RETRY_MS = 20

const FAILED_WRITES = `SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'`

/**
 * chDB counts the writes of files that fail and goes on as if they had not (26.7): an insert is acknowledged, or a merge
 * takes the place of what it merged, and the files are empty. So that count is looked at after every change. When it has
 * risen, tables with a broken part are closed and opened again, which ClickHouse does by setting such a part aside and
 * taking back what it was merged from.
 */
export function createLostWrites(watcher: Session, idleSessions: () => readonly Session[]) {
  let latest = 0
  let mended = 0
  let mending: Promise<void> = Promise.resolve()
  let lookedAt = new Date()
  /** Tables between closing and opening. */
  const closed = new Set<string>()

  async function rows<Row>(sql: string, params: Record<string, unknown> = {}): Promise<Row[]> {
    const result = await watcher.queryBindAsync(sql, params, { format: 'JSONEachRow' })
    return jsonLines<Row>(result.text())
  }

  async function failedWrites(): Promise<number> {
    const [row] = await rows<{ value: number }>(FAILED_WRITES)
    latest = Math.max(latest, row?.value ?? 0)
    return latest
  }

  async function isBroken(table: string, part: string): Promise<boolean> {
    const check = `CHECK TABLE ${table} PART '${part}' SETTINGS check_query_single_value_result = 0`
    try {
      return (await rows<{ is_passed: number }>(check)).some((row) => row.is_passed === 0)
    } catch (error) {
      // A merge has taken it away meanwhile, so nobody reads it any more.
      if (/Code: 232\b/.test(messageOf(error))) return false
      throw error
    }
  }

  async function mend(count: number): Promise<void> {
    if (count <= mended && closed.size === 0) return
    const since = lookedAt.getTime() - 1_000
    const parts = await rows<{ table: string; name: string }>(
      `SELECT table, name FROM system.parts
        WHERE database = currentDatabase() AND active AND modification_time >= fromUnixTimestamp64Milli({since:Int64})`,
      { since },
    )
    try {
      for (const { table, name } of parts) {
        if (closed.has(table) || !(await isBroken(table, name))) continue
        await run(`DETACH TABLE ${table}`)
        closed.add(table)
      }
    } finally {
      for (const table of closed) {
        await open(table)
        closed.delete(table)
      }
    }
    mended = Math.max(mended, count)
  }

  async function open(table: string): Promise<void> {
    const giveUpAt = performance.now() + REOPEN_MS_MAX
    for (;;) {
      // A session holds what its last query failed on until its next one.
      for (const session of idleSessions()) await session.queryBindAsync('SELECT 1', {}, { format: 'Null' })
      try {
        return await run(`ATTACH TABLE ${table}`)
      } catch (error) {
        if (!messageOf(error).includes('still used') || performance.now() > giveUpAt) throw error
        await delay(REOPEN_RETRY_MS)
      }
    }
  }

  async function run(sql: string): Promise<void> {
    await watcher.queryBindAsync(sql, {}, { format: 'Null' })
  }

  /** Mends what has been broken since the count was `before`; whether there may have been something. */
  async function lostSince(before: number): Promise<boolean> {
    const at = new Date()
    const count = await failedWrites()
    if (count === before && count === mended && closed.size === 0) {
      lookedAt = at
      return false
    }
    // What cannot be mended now is tried again with the next look.
    mending = mending.then(() => mend(count)).catch(() => {})
    await mending
    return count > before
  }

  function look(): void {
    lostSince(latest).catch(() => {})
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
    /** Looks at once, for whoever could not read. */
    look,
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
