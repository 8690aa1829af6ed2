import { join } from 'node:path'
import { drainPending, Session } from 'chdb'
import { dependencyFailed, unavailable } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { withoutLoneSurrogates } from '../../lone-surrogates.ts'
import { createGroupCommit } from './group-commit.ts'
import { jsonLines } from './json-lines.ts'
import { createLostWrites } from './lost-writes.ts'
import type { Query, TraceDb } from './port.ts'

/** Queries that may stream at once; chDB allows one stream a session, further ones wait their turn. */
const READ_SESSIONS = 6

/** Reads that wait their turn; more would wait longer than a client does. */
const WAITING_READS_MAX = 1000

/** A read that takes longer is a mistake; chDB cannot interrupt one that has not produced a row. */
const READ_SECONDS_MAX = 60

/** Keeps one query from taking the machine's memory. */
const READ_BYTES_MAX = 4 * 1024 ** 3

/** Characters of SQL without its values. */
const QUERY_CHARS_MAX = 2 * 1024 * 1024

const CONNECTION_ARGS = [
  '--date_time_input_format=best_effort',
  '--date_time_output_format=iso',
  '--output_format_json_quote_64bit_integers=0',
  '--output_format_json_escape_forward_slashes=0',
  // Takes an insert of hundreds of rows a tenth less time, and one of thousands no more.
  '--input_format_parallel_parsing=0',
  // Payloads are what a search reads: a few thousand calls are worth a second core, where the defaults wait for 160,000 rows.
  '--merge_tree_min_rows_for_concurrent_read=1024',
  '--merge_tree_min_bytes_for_concurrent_read=1048576',
  // A query of the largest number of conditions.
  `--max_query_size=${QUERY_CHARS_MAX}`,
  `--max_execution_time=${READ_SECONDS_MAX}`,
  `--max_memory_usage=${READ_BYTES_MAX}`,
]

/** Opens ClickHouse in this process, with its files below `folder`. One process may open a folder at a time. */
export function openChdb(folder: string, log: Pick<Log, 'error' | 'warn'>): TraceDb {
  const path = join(folder, 'trace-db')
  const open = (): Session => new Session(path, { connectionArgs: CONNECTION_ARGS })
  const writer = open()
  const readers = createPool(READ_SESSIONS, open)
  const watcher = open()
  const lostWrites = createLostWrites({
    session: watcher,
    idleSessions: () => [writer, ...readers.idle()],
    log,
  })
  const commits = new Map<string, ReturnType<typeof createGroupCommit>>()

  function commitsOf(table: string): ReturnType<typeof createGroupCommit> {
    let commit = commits.get(table)
    if (commit === undefined) {
      commit = createGroupCommit((lines) =>
        lostWrites.watched(() => writer.insert({ table, format: 'JSONEachRow', values: Buffer.from(lines) })),
      )
      commits.set(table, commit)
    }
    return commit
  }

  async function* stream(query: Query, format: string, signal: AbortSignal | undefined) {
    const session = await readers.take()
    try {
      signal?.throwIfAborted()
      yield* session.queryStreamBind(query.sql, query.params, { format, ...(signal && { signal }) })
    } catch (error) {
      signal?.throwIfAborted()
      lostWrites.look()
      throw dependencyFailed('The trace database could not answer', error)
    } finally {
      readers.give(session)
    }
  }

  return {
    async *query<Row>(query: Query, signal?: AbortSignal) {
      for await (const chunk of stream(query, 'JSONEachRow', signal)) yield* jsonLines<Row>(chunk.text())
    },

    async *rowBinary(query, signal) {
      for await (const chunk of stream(query, 'RowBinary', signal)) yield chunk.raw()
    },

    async *text(query, signal) {
      for await (const chunk of stream(query, 'RawBLOB', signal)) {
        const { buffer, byteOffset, byteLength } = chunk.raw()
        yield Buffer.from(buffer, byteOffset, byteLength)
      }
    },

    async insert(table, rows) {
      if (rows.length === 0) return
      let lines = ''
      for (const row of rows) lines += `${withoutLoneSurrogates(JSON.stringify(row))}\n`
      await commitsOf(table).write(ownerOf(rows), lines)
    },

    async command(query) {
      const change = () => writer.queryBindAsync(query.sql, query.params, { format: 'Null' })
      await (await lostWrites.watched(change)).kept
    },

    repairs: lostWrites.repairs,

    async [Symbol.asyncDispose]() {
      await Promise.all([...commits.values()].map((commit) => commit.drained()))
      lostWrites.stop()
      for (const session of [writer, watcher, ...readers.all()]) session.close()
      await drainPending()
    },
  }
}

/** Whose turn a write takes: that of its project, where it has one. */
function ownerOf([row]: readonly object[]): string {
  const project: unknown = row && Reflect.get(row, 'project_id')
  return typeof project === 'string' ? project : ''
}

interface Pool {
  take(): Promise<Session>
  give(session: Session): void
  all(): Session[]
  idle(): Session[]
}

function createPool(size: number, open: () => Session): Pool {
  const opened: Session[] = []
  const free: Session[] = []
  const waiting: ((session: Session) => void)[] = []
  return {
    async take() {
      const session = free.pop()
      if (session !== undefined) return session
      if (opened.length < size) {
        const fresh = open()
        opened.push(fresh)
        return fresh
      }
      if (waiting.length >= WAITING_READS_MAX) throw unavailable('Too many reads are waiting', 2)
      return new Promise((resolve) => waiting.push(resolve))
    },
    give(session) {
      const next = waiting.shift()
      if (next === undefined) free.push(session)
      else next(session)
    },
    all: () => opened,
    idle: () => free,
  }
}
