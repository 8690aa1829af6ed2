import { randomUUID } from 'node:crypto'
import { withoutLoneSurrogates } from '../../../json/lone-surrogates.ts'
import type { Log } from '../../../log.ts'
import type { Query, TraceDb } from '../port.ts'
import { wholeLinesOf } from '../whole-lines.ts'
import { QUERY_CHARS_MAX } from './connection.ts'
import { buildDeferredIndexes, DEFERRED_INDEXES } from './deferred-indexes.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { jsonLines } from './json-lines.ts'
import { createLostWrites, trustWrites } from './lost-writes.ts'
import { createPauses } from './pauses.ts'
import { createReads } from './reads.ts'
import { request, requestsTo, type Server } from './server.ts'
import { ONE_NODE, requestsIn, type Topology } from './topology.ts'
import { createWriteGate, type WriteGate } from './write-gate.ts'

/**
 * Two commits at once take as long as one for both, so a second writer serves only other projects than the first one's.
 */
const WRITERS = 2

/** A read that takes longer is an error. */
const READ_SECONDS_MAX = 60

/** ClickHouse checks the time between two blocks of rows, and ends a query by itself only then. */
const READ_MS_MAX = (READ_SECONDS_MAX + 2) * 1000

/** Keeps one query from using the machine's memory. */
const READ_BYTES_MAX = 4 * 1024 ** 3

/** Elements of a query's syntax tree: this many take a second to plan, and twice as many take four. */
const QUERY_PARTS_MAX = 40_000

/** Skip indexes that merges build alone: each has files, and an insert waits for the disk for each file. */
const BUILT_BY_MERGES = ['by_trace']

/** What every query runs with. */
export const QUERY_SETTINGS = {
  date_time_input_format: 'best_effort',
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  // Makes an insert of hundreds of rows a tenth faster, and one of thousands no slower.
  input_format_parallel_parsing: 0,
  // Searches read payloads: a few thousand calls are worth a second core, where the defaults wait for 160,000 rows.
  merge_tree_min_rows_for_concurrent_read: '1024',
  merge_tree_min_bytes_for_concurrent_read: '1048576',
  // Merging the filters of 490 conditions took nine tenths of the time in which they were planned.
  query_plan_merge_filters: 0,
  // Conditions on the sorting key exclude rows before these are merged. Without it, calls by id are merged with all
  // others of their granules, payloads included.
  optimize_move_to_prewhere_if_final: 1,
  // Statistics of each part are read to plan a query, which takes longer than a better order of conditions saves.
  use_statistics: 0,
  // Half of a search through new calls is to decompress them.
  use_uncompressed_cache: 1,
  exclude_materialize_skip_indexes_on_insert: [...DEFERRED_INDEXES, ...BUILT_BY_MERGES].join(),
  // Fits a query with the largest number of conditions.
  max_query_size: String(QUERY_CHARS_MAX),
  max_ast_elements: String(QUERY_PARTS_MAX),
  max_expanded_ast_elements: String(QUERY_PARTS_MAX),
  max_execution_time: READ_SECONDS_MAX,
  max_memory_usage: String(READ_BYTES_MAX),
} as const

/** A trace database whose writes can be held for a moment, for a copy of several stores at one moment. */
export interface ClickHouseDb extends TraceDb {
  /** Holds inserts and commands, which wait; see {@link WriteGate}. */
  holdWrites: WriteGate['hold']
}

export interface ClickHouseOptions {
  /** A read that takes longer is ended. */
  readMsMax?: number | undefined
  topology?: Topology
}

/** A trace database on a ClickHouse server; disposal stops the server as well. */
export function openClickHouse(
  server: Server,
  log: Pick<Log, 'error' | 'warn'>,
  { readMsMax = READ_MS_MAX, topology = ONE_NODE }: ClickHouseOptions = {},
): ClickHouseDb {
  const requests = requestsIn(topology, requestsTo(server))
  const pauses = createPauses()
  const lostWrites = topology.isReplicated ? trustWrites() : createLostWrites({ requests, log })
  const deferredIndexes = buildDeferredIndexes({ requests, log })
  const settings = deferredIndexes.readSettings
  const onFailure = (): void => lostWrites.check()
  const reads = createReads({ server, requests, log, readMsMax, pauses, settings, onFailure })
  const gate = createWriteGate()
  const commits = new Map<string, GroupCommit>()

  function commitsOf(table: string): GroupCommit {
    let commit = commits.get(table)
    if (commit === undefined) {
      const write = (lines: readonly Buffer[]) => kept(() => insert(table, lines))
      commit = createGroupCommit(
        Array.from({ length: WRITERS }, () => write),
        pauses,
      )
      commits.set(table, commit)
    }
    return commit
  }

  /** A change passes the gate until it is known to be on disk. */
  function kept(change: () => Promise<unknown>): Promise<{ kept: Promise<void> }> {
    const begun = Promise.withResolvers<{ kept: Promise<void> }>()
    gate
      .pass(async () => {
        const changed = await lostWrites.watched(change)
        begun.resolve(changed)
        await changed.kept
      })
      .catch(begun.reject)
    return begun.promise
  }

  function insert(table: string, lines: readonly Buffer[], token: string = randomUUID()): Promise<void> {
    return request(server, server.repeatsInserts, (connection) => connection.insert(table, lines, token))
  }

  const inTopology = (query: Query): Query => ({ ...query, sql: topology.query(query.sql) })

  return {
    async *query<Row>(query: Query, signal?: AbortSignal) {
      for await (const lines of wholeLinesOf(reads.stream(inTopology(query), 'JSONEachRow', signal)))
        yield* jsonLines<Row>(lines.toString())
    },

    rowBinary: (query, signal) => reads.stream(inTopology(query), 'RowBinary', signal),

    text: (query, signal) => reads.stream(inTopology(query), 'RawBLOB', signal),

    native: (query, signal) => reads.stream(inTopology(query), 'Native', signal),

    async insertNative(table, columns, rows) {
      const insertOnce = async () => (await server.connection()).insertNative(table, columns, rows)
      await (await kept(insertOnce)).kept
    },

    async insert(table, rows) {
      if (rows.length === 0) return
      await commitsOf(table).write(ownerOf(rows), linesOf(rows))
    },

    async insertOnce(table, rows, token) {
      if (rows.length === 0) return
      // On one machine the disk may have lost what was inserted under a token, so that it is never used again.
      const own = topology.isReplicated ? token : randomUUID()
      await (await kept(() => insert(table, [linesOf(rows)], own))).kept
    },

    async command({ sql, params }) {
      await (await kept(() => requests.run(sql, params))).kept
    },

    holdWrites: gate.hold,

    repairs: lostWrites.repairs,

    async [Symbol.asyncDispose]() {
      await Promise.all([...commits.values()].map((commit) => commit.drained()))
      lostWrites.stop()
      await deferredIndexes.stop()
      await reads.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Rows as an insert sends them. */
function linesOf(rows: readonly object[]): Buffer {
  let lines = ''
  for (const row of rows) lines += `${JSON.stringify(row)}\n`
  return Buffer.from(withoutLoneSurrogates(lines))
}

/** The owner of a write: its project, where it has one. */
function ownerOf([row]: readonly object[]): string {
  const project: unknown = row && Reflect.get(row, 'project_id')
  return typeof project === 'string' ? project : ''
}
