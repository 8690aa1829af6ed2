import { Socket } from 'node:net'
import { HandleEmptyInListsPlugin, Kysely, replaceWithNoncontingentExpression } from 'kysely'
import pg from 'pg'
import type { Log } from '../../log.ts'
import { NO_TELEMETRY, type Telemetry } from '../../telemetry.ts'
import { migrateControlDb } from './migrate.ts'
import { NO_PEERS, type Peers } from './peers.ts'
import type { ControlDb, ControlDbWatch } from './port.ts'
import { type PostgresOptions, readPostgresAddress } from './postgres-address.ts'
import { createPostgresClock, type PostgresClock } from './postgres-clock.ts'
import { type DialectDeps, postgresDialect } from './postgres-dialect.ts'
import { holdPostgres } from './postgres-hold.ts'
import { createPostgresPeers, reportChanges } from './postgres-peers.ts'
import { querySpans } from './query-spans.ts'
import type { ControlTables } from './tables.ts'
import { WIDE_INTEGERS } from './wide-integers.ts'
import { createWriterTurns, WRITER_WAITS_MS_MAX, type WriterTurns } from './writer-turns.ts'

/** Readers and the one writer at a time. PostgreSQL allows 100 connections of all servers by default. */
const CONNECTIONS_MAX = 10

/** For a connection, or for one of the pool to be free. */
const CONNECT_MS_MAX = 5_000

/** Longer than any statement takes. */
const STATEMENT_MS_MAX = 60_000

/** Writers that have waited for longer than this are too many, or one of another server is stuck. */
const WRITERS_WAIT_MS_FINE = 10_000

/** Ends the transaction of a server whose connection was never closed: all others wait for it. */
const IDLE_IN_TRANSACTION_MS_MAX = 10_000

/** A network that drops packets gives neither an answer nor an error. */
const ANSWER_MS_MAX = STATEMENT_MS_MAX + 5_000

/** Of a connection that only reads a few rows, for someone who waits for it. */
const READ_ANSWER_MS_MAX = 10_000

/** Of the connection that holds the database, whose queries take no time. */
const HOLD_ANSWER_MS_MAX = 5_000

/** Seconds without a packet after which the server ends a connection, so that a lost server holds nothing for long. */
const KEEPALIVE_S = 10

const LIMITS = {
  statement_timeout: STATEMENT_MS_MAX,
  lock_timeout: WRITER_WAITS_MS_MAX,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
}
const NO_LIMITS = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 }

/** Of connections, by what they are for: migrations, which may rewrite large tables, have no limits. */
const SETTINGS = {
  work: LIMITS,
  migrate: NO_LIMITS,
  read: { ...LIMITS, default_transaction_read_only: 'on' },
}

/** A migration, and what asks beside it which are applied. */
const MIGRATING_CONNECTIONS_MAX = 2

/** As `server_version_num` counts. */
const VERSION_MIN = 150_000

/** Orders texts by code points. */
const COLLATION = /^(C|POSIX|C\.utf-?8)$/i

const INT8 = 20
const NUMERIC = 1700

/** A control database on a PostgreSQL server. */
export type OpenPostgres = ControlDb &
  AsyncDisposable & {
    peers: Peers
    watch: ControlDbWatch
    /** Brings it to the newest version, however long that takes. */
    migrate(folder?: string): Promise<void>
    reportChanges(): Promise<void>
  }

/** How a control database elsewhere is used. */
export interface PostgresUse {
  /** Whether other servers use it at the same time; none may by default. */
  servers?: 'one' | 'several'
  /** Called after every write, with its error where it failed. */
  written?: (error: unknown) => void
  telemetry?: Telemetry
}

/**
 * Opens a control database elsewhere. Where several servers use it, `reportChanges` is to be called once its tables are
 * there.
 * @throws Error where it does not answer, is too old, orders texts otherwise, or is used by a server that cannot share
 * it
 */
export async function openPostgres(
  options: PostgresOptions,
  log: Pick<Log, 'warn'>,
  { servers = 'one', written = () => undefined, telemetry = NO_TELEMETRY }: PostgresUse = {},
): Promise<OpenPostgres> {
  await checkPostgres(options)
  await using opening = new AsyncDisposableStack()
  const connection = connectionOf(options)
  const sockets = createSockets()
  // The hold is released after the pool is closed: until then, writes are in progress.
  const holding = opening.use(new AsyncDisposableStack())
  const openPool = (config: pg.PoolConfig): pg.Pool => {
    const pool = new pg.Pool({ ...config, stream: sockets.open })
    // A statement in progress fails by itself; the event alone would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined))
    // The pool drops an idle connection that breaks; the next statement opens another one.
    pool.on('error', (error) => log.warn({ error }, 'a connection to the control database broke'))
    return pool
  }
  const pool = openPool({ ...connection, max: CONNECTIONS_MAX })
  opening.defer(() => pool.end())
  const peers = servers === 'several' ? createPostgresPeers(pool, log) : undefined
  const newClient = () => new pg.Client({ ...connection, query_timeout: HOLD_ANSWER_MS_MAX })
  const clock = createPostgresClock({ log })
  const hold = holding.use(await holdPostgres({ newClient, log, peers, clock, onLost: sockets.destroyAll }))
  const turns = createWriterTurns(WRITER_WAITS_MS_MAX)
  const kysely = kyselyOn({ pool, hold, turns, written }, telemetry)

  async function migrate(folder?: string): Promise<void> {
    const migrating = openPool({ ...connectionOf(options, 'migrate'), max: MIGRATING_CONNECTIONS_MAX })
    try {
      const deps = { pool: migrating, hold, turns: createWriterTurns(), written }
      await migrateControlDb(kyselyOn(deps, telemetry), folder)
    } finally {
      await migrating.end()
    }
  }

  const opened = opening.move()
  return Object.assign(kysely, {
    peers: peers ?? NO_PEERS,
    watch: { check: hold.check, warnings: () => warningsOf(turns, clock) },
    migrate,
    reportChanges: async () => (peers === undefined ? undefined : reportChanges(kysely)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  })
}

/** Opens a control database elsewhere as it is, without holding it: it is neither migrated nor changed. */
export function readPostgres(options: PostgresOptions): ControlDb & AsyncDisposable {
  const pool = new pg.Pool({ ...connectionOf(options, 'read'), max: 1 })
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('error', () => undefined)
  // The server refuses writes on its connection.
  const hold = { check: () => undefined, renew: () => undefined }
  const kysely = kyselyOn({ pool, hold, turns: createWriterTurns(), written: () => undefined }, NO_TELEMETRY)
  return Object.assign(kysely, { [Symbol.asyncDispose]: () => pool.end() })
}

function kyselyOn(deps: DialectDeps, telemetry: Telemetry): Kysely<ControlTables> {
  return new Kysely<ControlTables>({
    dialect: postgresDialect(deps),
    plugins: [
      WIDE_INTEGERS,
      // An empty list is a syntax error there.
      new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression }),
    ],
    ...querySpans(telemetry, 'postgresql'),
  })
}

function warningsOf(turns: Pick<WriterTurns, 'waitsMs'>, clock: Pick<PostgresClock, 'warning'>): string[] {
  const waits = turns.waitsMs()
  const isLong = waits > WRITERS_WAIT_MS_FINE
  const apart = clock.warning()
  return [
    ...(isLong ? [`writes have waited for ${Math.round(waits / 1000)} s for others to end`] : []),
    ...(apart === undefined ? [] : [apart]),
  ]
}

/** The sockets of connections: once destroyed, what waits for an answer that cannot come fails at once. */
function createSockets() {
  const opened = new Set<Socket>()
  return {
    open(): Socket {
      const socket = new Socket()
      opened.add(socket)
      return socket.once('close', () => opened.delete(socket))
    },
    destroyAll(): void {
      for (const socket of opened) socket.destroy()
    },
  }
}

function connectionOf(options: PostgresOptions, use: keyof typeof SETTINGS = 'work'): pg.ClientConfig {
  const { tls, ...address } = readPostgresAddress(options)
  return {
    ...address,
    ssl: tls !== 'disable' && { rejectUnauthorized: tls === 'verify-full', ca: options.ca },
    connectionTimeoutMillis: CONNECT_MS_MAX,
    ...(use !== 'migrate' && { query_timeout: use === 'read' ? READ_ANSWER_MS_MAX : ANSWER_MS_MAX }),
    keepAlive: true,
    application_name: 'heddle',
    options: settings({
      synchronous_commit: 'on',
      ...SETTINGS[use],
      tcp_keepalives_idle: KEEPALIVE_S,
      tcp_keepalives_interval: KEEPALIVE_S,
      tcp_keepalives_count: 3,
    }),
    types: { getTypeParser },
  }
}

function settings(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Counts are `int8`, sums of them `numeric`; both would be texts. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 || oid === NUMERIC) return Number
  return format === 'binary' ? pg.types.getTypeParser(oid, format) : pg.types.getTypeParser(oid, 'text')
}

/** Looks at a database without using it. @throws Error with what is wrong, and how to make a right one */
export async function checkPostgres(options: PostgresOptions): Promise<void> {
  const client = new pg.Client(connectionOf(options, 'read'))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await checkDatabase(client, readPostgresAddress(options).database)
  } finally {
    await client.end()
  }
}

async function checkDatabase(client: Pick<pg.ClientBase, 'query'>, database: string): Promise<void> {
  const { rows: versions } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  )
  const version = versions[0]?.version ?? 0
  if (version < VERSION_MIN)
    throw new Error(`PostgreSQL is version ${Math.floor(version / 10_000)}; 15 or later is needed`)
  const { rows } = await client.query<{ collation: string; provider: string; encoding: string }>(
    `select datcollate as collation, datlocprovider as provider, pg_encoding_to_char(encoding) as encoding
      from pg_database where datname = current_database()`,
  )
  for (const { collation, provider, encoding } of rows)
    if (provider === 'i' || !COLLATION.test(collation) || encoding !== 'UTF8')
      throw new Error(
        `The database orders texts by ${provider === 'i' ? 'ICU' : collation} in ${encoding}, which must be by C in UTF8: ` +
          `CREATE DATABASE ${JSON.stringify(database)} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`,
      )
}
