import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { dependencyFailed } from '../../errors.ts'
import type { Log } from '../../log.ts'

/** Any number that other programs on the database do not use: "server" in ASCII. */
const SERVER = 0x736572766572

/** Between two attempts to hold the database again. */
const RETRY_MS = 500

/** What only the server that holds the database may do. */
export interface PostgresHold extends AsyncDisposable {
  /** @throws 503 while another server holds the database, or this is not known */
  check(): void
}

/**
 * Holds a database as long as one connection lasts, so that one server uses it at a time, as with a data folder: what a
 * server knows of jobs and recent calls is right only while no other one changes it. When the connection breaks, writes
 * are refused until the database is held again.
 * @param newClient a connection that is not of the pool
 * @throws Error where another server holds it
 */
export async function holdPostgres(
  newClient: () => pg.Client,
  log: Pick<Log, 'warn'>,
): Promise<PostgresHold> {
  const stopping = new AbortController()
  let client: pg.Client | undefined
  let isHeld = false

  async function hold(): Promise<boolean> {
    const opened = newClient()
    opened.on('error', () => undefined)
    try {
      await opened.connect()
      const { rows } = await opened.query<{ held: boolean }>(`select pg_try_advisory_lock(${SERVER}) as held`)
      isHeld = rows[0]?.held === true
    } catch (error) {
      await opened.end().catch(() => undefined)
      throw error
    }
    if (!isHeld || stopping.signal.aborted) {
      await opened.end()
      return false
    }
    client = opened
    opened.once('end', lost)
    return true
  }

  function lost(): void {
    isHeld = false
    client = undefined
    if (!stopping.signal.aborted) void holdAgain()
  }

  async function holdAgain(): Promise<void> {
    log.warn(
      {},
      'the connection that holds the control database broke: writes are refused until it is held again',
    )
    while (!stopping.signal.aborted) {
      if (await hold().catch(() => false)) return
      await delay(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  if (!(await hold()))
    throw new Error(
      'Another Heddle server uses this database, and one can at a time: stop it, or name another database',
    )
  return {
    check() {
      if (isHeld) return
      throw dependencyFailed(
        'The control database does not answer',
        new Error('it is not held by this server'),
      )
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await client?.end()
    },
  }
}
