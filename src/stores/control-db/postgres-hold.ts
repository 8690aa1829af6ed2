import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { StoreFailed } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { PostgresClock } from './postgres-clock.ts'
import { ONLY_READS } from './postgres-errors.ts'
import { CHANNEL, type PostgresPeers } from './postgres-peers.ts'

/** Any number that other programs on the database do not use: "server" in ASCII. */
const SERVER = 0x736572766572

/** Between two attempts to hold the database again. */
const RETRY_MS = 500

/** How often the connection is asked whether it lasts: a network that drops packets closes none. */
const PING_MS = 5_000

/** What only a server that holds the database may do. */
export interface PostgresHold extends AsyncDisposable {
  /** @throws 503 while another server holds the database, it takes no writes, or this is not known */
  check(): void
  /** Connects again, where a connection leads to a server that takes no writes: another one may be in its place. */
  renew(): void
}

export interface HoldOptions {
  /** A connection that is not of the pool; its queries end after some seconds. */
  newClient: () => pg.Client
  log: Pick<Log, 'warn'>
  /** Called when the connection breaks: others to the same server lead nowhere either. */
  onLost: () => void
  /** The other servers that may hold the database at the same time; undefined where there must be none. */
  peers: Pick<PostgresPeers, 'notified' | 'missed'> | undefined
  clock: Pick<PostgresClock, 'note'>
}

/**
 * Holds a database as long as one connection lasts: alone, or together with servers that do so as well. A single server
 * keeps jobs and recent calls in memory, which holds only while no other server changes them, so neither kind starts
 * while one of the other runs. When the connection breaks, writes are refused until the database is held again.
 * @throws Error where a server holds it with which this one cannot
 */
export async function holdPostgres(options: HoldOptions): Promise<PostgresHold> {
  const { newClient, log, onLost, peers, clock } = options
  const stopping = new AbortController()
  const lock = peers === undefined ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared'
  const heldByOthers =
    peers === undefined
      ? 'Another Heddle server uses this database: stop it, name another database, or start all with HEDDLE_SERVERS=several'
      : 'A Heddle server without HEDDLE_SERVERS=several uses this database: stop it, or name another database'
  let client: pg.Client | undefined
  let isHeld = false
  /** Why it was not held at the last try. */
  let reason = ''

  async function hold(): Promise<boolean> {
    const opened = newClient()
    opened.on('error', () => undefined)
    try {
      await opened.connect()
      reason = (await takesWrites(opened, clock)) ? heldByOthers : ONLY_READS
      const { rows } = await opened.query<{ held: boolean }>(`select ${lock}(${SERVER}) as held`)
      isHeld = rows[0]?.held === true && reason !== ONLY_READS
      if (isHeld && peers !== undefined) await listen(opened, peers)
    } catch (error) {
      isHeld = false
      await opened.end().catch(() => undefined)
      throw error
    }
    if (!isHeld || stopping.signal.aborted) {
      await opened.end()
      return false
    }
    client = opened
    opened.once('end', lost)
    void ping(opened)
    return true
  }

  async function listen(
    opened: pg.Client,
    { notified, missed }: Pick<PostgresPeers, 'notified' | 'missed'>,
  ): Promise<void> {
    opened.on('notification', ({ payload = '' }) => notified(payload))
    await opened.query(`listen ${CHANNEL}`)
    missed()
  }

  async function ping(opened: pg.Client): Promise<void> {
    while (client === opened) {
      await delay(PING_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
      if (stopping.signal.aborted) return
      // A connection whose query has had no answer is cut, which is its end.
      if (!(await takesWrites(opened, clock).catch(() => false))) await opened.end().catch(() => undefined)
    }
  }

  function lost(): void {
    isHeld = false
    client = undefined
    if (stopping.signal.aborted) return
    onLost()
    void holdAgain()
  }

  async function holdAgain(): Promise<void> {
    log.warn(
      {},
      'the connection that holds the control database broke: writes are refused until it is held again',
    )
    while (!stopping.signal.aborted) {
      peers?.missed()
      if (await hold().catch(() => false)) return
      await delay(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  if (!(await hold())) throw new Error(reason)
  return {
    check() {
      if (isHeld) return
      throw new StoreFailed(
        reason === ONLY_READS ? ONLY_READS : 'The control database does not answer',
        new Error('it is not held by this server'),
      )
    },
    renew: () => void client?.end().catch(() => undefined),
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await client?.end()
    },
  }
}

/** Asks as well what time it is there. */
async function takesWrites(client: pg.Client, clock: HoldOptions['clock']): Promise<boolean> {
  const sentAt = Date.now()
  const { rows } = await client.query<{ setting: string; now: number }>(
    `select current_setting('transaction_read_only') as setting, extract(epoch from clock_timestamp()) * 1000 as now`,
  )
  clock.note(rows[0]?.now ?? sentAt, { sentAt, heardAt: Date.now() })
  return rows[0]?.setting === 'off'
}
