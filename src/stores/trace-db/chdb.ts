import { join } from 'node:path'
import { drainPending, Session } from 'chdb'
import type { Log } from '../../log.ts'
import { withoutLoneSurrogates } from '../../lone-surrogates.ts'
import { returnFreedMemory } from './freed-memory.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { jsonLines } from './json-lines.ts'
import { createLostWrites } from './lost-writes.ts'
import type { Query, TraceDb } from './port.ts'
import { createReads } from './reads.ts'

/**
 * Two commits at once take as long as one for both, so a second session serves only other projects than the first
 * one's.
 */
const WRITE_SESSIONS = 2

/** A read that takes longer is an error. */
const READ_SECONDS_MAX = 60

/** ClickHouse checks the time between two blocks of rows, and ends a query by itself only then. */
const READ_MS_MAX = (READ_SECONDS_MAX + 2) * 1000

/** Keeps one query from using the machine's memory. */
const READ_BYTES_MAX = 4 * 1024 ** 3

/** Characters of SQL without its bound values. */
const QUERY_CHARS_MAX = 2 * 1024 * 1024

/**
 * Elements of a query's syntax tree: this many take a second to plan, during which nothing else is served, and twice as
 * many take four.
 */
const QUERY_PARTS_MAX = 40_000

const CONNECTION_ARGS = [
  '--date_time_input_format=best_effort',
  '--date_time_output_format=iso',
  '--output_format_json_quote_64bit_integers=0',
  '--output_format_json_escape_forward_slashes=0',
  // Makes an insert of hundreds of rows a tenth faster, and one of thousands no slower.
  '--input_format_parallel_parsing=0',
  // Searches read payloads: a few thousand calls are worth a second core, where the defaults wait for 160,000 rows.
  '--merge_tree_min_rows_for_concurrent_read=1024',
  '--merge_tree_min_bytes_for_concurrent_read=1048576',
  // Merging the filters of 490 conditions took nine tenths of the time in which they were planned, on the calling
  // thread.
  '--query_plan_merge_filters=0',
  // Fits a query with the largest number of conditions.
  `--max_query_size=${QUERY_CHARS_MAX}`,
  `--max_ast_elements=${QUERY_PARTS_MAX}`,
  `--max_expanded_ast_elements=${QUERY_PARTS_MAX}`,
  `--max_execution_time=${READ_SECONDS_MAX}`,
  `--max_memory_usage=${READ_BYTES_MAX}`,
]

/**
 * Opens ClickHouse in this process, with its files below `folder`. One process may open a folder at a time.
 * @param limits a read that takes longer than `readMsMax` is ended
 */
export function openChdb(
  folder: string,
  log: Pick<Log, 'error' | 'warn'>,
  { readMsMax = READ_MS_MAX } = {},
): TraceDb {
  const path = join(folder, 'trace-db')
  const open = (name: string, connectionArgs: readonly string[] = []): Session =>
    new Session(path, { connectionArgs: [...CONNECTION_ARGS, `--log_comment=${name}`, ...connectionArgs] })
  const writers = Array.from({ length: WRITE_SESSIONS }, (_, index) => open(`writer ${index}`))
  const changer = open('changer')
  const reads = createReads({ open, log, readMsMax, onFailure: () => lostWrites.look() })
  const watcher = open('watcher')
  const lostWrites = createLostWrites({
    session: watcher,
    idleSessions: () => [...writers, changer, ...reads.idle()],
    log,
  })
  const purger = open('purger')
  const freedMemory = returnFreedMemory({ session: purger, log })
  const commits = new Map<string, GroupCommit>()

  function commitsOf(table: string): GroupCommit {
    let commit = commits.get(table)
    if (commit === undefined) {
      const commitOf = (writer: Session) => (lines: string) =>
        lostWrites.watched(() => writer.insert({ table, format: 'JSONEachRow', values: Buffer.from(lines) }))
      commit = createGroupCommit(writers.map(commitOf))
      commits.set(table, commit)
    }
    return commit
  }

  return {
    async *query<Row>(query: Query, signal?: AbortSignal) {
      for await (const chunk of reads.stream(query, 'JSONEachRow', signal))
        yield* jsonLines<Row>(chunk.text())
    },

    async *rowBinary(query, signal) {
      for await (const chunk of reads.stream(query, 'RowBinary', signal)) yield chunk.raw()
    },

    async *text(query, signal) {
      for await (const chunk of reads.stream(query, 'RawBLOB', signal)) {
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
      const change = () => changer.queryBindAsync(query.sql, query.params, { format: 'Null' })
      await (await lostWrites.watched(change)).kept
    },

    repairs: lostWrites.repairs,

    async [Symbol.asyncDispose]() {
      await Promise.all([...commits.values()].map((commit) => commit.drained()))
      lostWrites.stop()
      await freedMemory.stop()
      await reads.close()
      for (const session of [...writers, changer, watcher, purger]) session.close()
      await drainPending()
    },
  }
}

/** The owner of a write: its project, where it has one. */
function ownerOf([row]: readonly object[]): string {
  const project: unknown = row && Reflect.get(row, 'project_id')
  return typeof project === 'string' ? project : ''
}
