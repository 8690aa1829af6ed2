import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type pg from 'pg'
import { CommitInDoubt } from './port.ts'
import { isReadOnly, postgresError } from './postgres-errors.ts'
import type { PostgresHold } from './postgres-hold.ts'
import type { WriterTurn, WriterTurns } from './writer-turns.ts'

/** Any number that other programs on the database do not use: "heddle" in ASCII. */
const TURN = 0x686564646c65

/**
 * Kysely's dialect of PostgreSQL, in which writers take turns as they do on the one connection of SQLite: a
 * transaction, or a statement by itself that does not only read, holds a lock that all servers of the database share.
 * So no transaction sees another one's writes between its statements, none deadlocks, and none has to be repeated.
 * Reads outside of transactions do not wait.
 */
export function postgresDialect(deps: DialectDeps): Dialect {
  return {
    createDriver: () => driverOf(deps),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    // Migrations run in one transaction, whose turn is a lock already.
    createAdapter: () =>
      Object.assign(new PostgresAdapter(), {
        acquireMigrationLock: async () => undefined,
        releaseMigrationLock: async () => undefined,
      }),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}

/** What the dialect works with. */
export interface DialectDeps {
  pool: pg.Pool
  /** Asked before each write, and renewed where the server takes none. */
  hold: Pick<PostgresHold, 'check' | 'renew'>
  turns: WriterTurns
  /** Called after each commit of a change, and with the error of a write that failed. */
  written: (error: unknown) => void
}

/**
 * A connection as Kysely sees it; of the pool it has one only once it is used, since a writer waits for its turn
 * before.
 */
interface Session extends DatabaseConnection {
  begin(): Promise<void>
  end(how: 'commit' | 'rollback'): Promise<void>
  release(): void
}

function driverOf(deps: DialectDeps): Driver {
  // Kysely hands back what it acquired.
  const sessionOf = (connection: DatabaseConnection): Session => connection as Session
  return {
    async init() {},
    acquireConnection: async () => createSession(deps),
    beginTransaction: (connection) => sessionOf(connection).begin(),
    commitTransaction: (connection) => sessionOf(connection).end('commit'),
    rollbackTransaction: (connection) => sessionOf(connection).end('rollback'),
    releaseConnection: async (connection) => sessionOf(connection).release(),
    // The pool is closed where it was opened.
    async destroy() {},
  }
}

function createSession({ pool, hold, turns, written }: DialectDeps): Session {
  let client: pg.PoolClient | undefined
  let turn: WriterTurn | undefined
  let hasChanged = false

  /** @param isBroken whether the connection is closed: its state is not known */
  function release(isBroken = false): void {
    client?.release(isBroken)
    client = undefined
    turn?.end()
    turn = undefined
  }

  /** Reports a write that failed. @returns its error as the port defines it */
  function failed(error: unknown): unknown {
    if (isReadOnly(error)) hold.renew()
    const translated = postgresError(error)
    if (turn !== undefined) written(translated)
    return translated
  }

  async function run<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      client ??= await pool.connect()
      const { command, rowCount, rows } = await client.query<Row & pg.QueryResultRow>(query.sql, [
        ...query.parameters,
      ])
      const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
      // What defines tables has no count of rows.
      if (isChange ? (rowCount ?? 0) > 0 : !isRead(query)) hasChanged = true
      return { rows: rows ?? [], ...(isChange && { numAffectedRows: BigInt(rowCount ?? 0) }) }
    } catch (error) {
      throw failed(error)
    }
  }

  async function begin(): Promise<void> {
    turn = await turns.take()
    hasChanged = false
    try {
      hold.check()
      client ??= await pool.connect()
      // One round trip. The statements after it see what all earlier transactions have committed.
      const waits = `set local lock_timeout = ${turn.msLeft()}`
      // The rest of the writer's time limits the wait for this lock, and not those of its statements.
      await client.query(
        `begin isolation level read committed; ${waits}; select pg_advisory_xact_lock(${TURN}); reset lock_timeout`,
      )
      turn.begun()
    } catch (error) {
      const translated = failed(error)
      release(true)
      throw translated
    }
  }

  async function end(how: 'commit' | 'rollback'): Promise<void> {
    if (client === undefined) return
    try {
      const { command } = await client.query(how)
      // A transaction in which a statement failed is not committed.
      if (how === 'commit' && command !== 'COMMIT')
        throw new Error('A statement of the transaction failed, and the error was not passed on')
      // A commit of nothing reaches no disk.
      if (how === 'commit' && hasChanged) written(undefined)
    } catch (error) {
      release(true)
      if (how === 'rollback') return
      written(postgresError(error))
      throw new CommitInDoubt(error)
    }
  }

  async function write<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await begin()
    try {
      const result = await run<Row>(query)
      await end('commit')
      return result
    } catch (error) {
      await end('rollback')
      throw error
    } finally {
      release()
    }
  }

  return {
    begin,
    end,
    release,
    async executeQuery<Row>(query: CompiledQuery) {
      if (turn === undefined && !isRead(query)) return write<Row>(query)
      return run<Row>(query)
    },
    // biome-ignore lint/correctness/useYield: nothing is streamed.
    async *streamQuery() {
      throw new TypeError('The control database has small rows: they are not streamed')
    },
  }
}

/** Of a statement that is written as text, only that tells what it does. */
function isRead({ query, sql }: Pick<CompiledQuery, 'query' | 'sql'>): boolean {
  if (query.kind === 'RawNode') return /^\s*select\b/i.test(sql)
  if (query.kind !== 'SelectQueryNode') return false
  const before = query.with?.expressions ?? []
  return before.every(({ expression }) => expression.kind === 'SelectQueryNode')
}
