import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../ids.ts'
import type { Log } from '../../../log.ts'
import { codeOf } from '../clickhouse/read-errors.ts'
import { firstOf, type TraceDb } from '../port.ts'

/** Who holds the lock says so at least this often. */
const LEASE_S = 60

const RETRY_MS = 500

const TABLE_ALREADY_EXISTS = 57

/** The lock: of several servers that make this table, one succeeds. Its comment says who, and until when. */
const LOCK = 'migrating'

/**
 * Runs work while no other server does the same. A server that ended in the midst of it holds the lock for a minute.
 * Two that find such a lock at once may both go on: migrations bear that, since each statement of them may run twice.
 */
export async function inTurn(
  db: Pick<TraceDb, 'query' | 'command'>,
  log: Pick<Log, 'warn'>,
  work: () => Promise<void>,
): Promise<void> {
  const holder = newId()
  const run = (sql: string): Promise<void> => db.command({ sql, params: {} })
  const leaseText = (): string => `'${holder} ${Math.floor(Date.now() / 1000) + LEASE_S}'`

  async function take(): Promise<boolean> {
    try {
      await run(`CREATE TABLE ${LOCK} (held UInt8) ENGINE = Null COMMENT ${leaseText()}`)
      return true
    } catch (error) {
      if (codeOf(error) !== TABLE_ALREADY_EXISTS) throw error
      return false
    }
  }

  let isWaiting = false
  while (!(await take())) {
    if (!isWaiting) log.warn({ lock: LOCK }, 'another server migrates the trace database: it is waited for')
    isWaiting = true
    const sql = `SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = '${LOCK}'`
    const found = await firstOf(db.query<{ comment: string }>({ sql, params: {} }))
    const until = Number(found?.comment.split(' ')[1] ?? Number.POSITIVE_INFINITY)
    if (until * 1000 < Date.now()) await run(`DROP TABLE IF EXISTS ${LOCK}`)
    else await delay(RETRY_MS)
  }
  const renewing = setInterval(
    () => run(`ALTER TABLE ${LOCK} MODIFY COMMENT ${leaseText()}`).catch(() => undefined),
    (LEASE_S * 1000) / 3,
  )
  try {
    await work()
  } finally {
    clearInterval(renewing)
    await run(`DROP TABLE IF EXISTS ${LOCK}`)
  }
}
