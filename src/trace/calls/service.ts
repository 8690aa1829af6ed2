import type { z } from 'zod'
import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Log } from '../../log.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { forEachYielding, yielding } from '../../yielding.ts'
import type { Costs } from '../costs/service.ts'
import type { Feedback } from '../feedback/service.ts'
import { fieldsIn } from '../query-language/fields-in.ts'
import type { Refs } from '../refs/service.ts'
import { createProjectSize } from './leaf-columns/project-size.ts'
import { createLeafColumns } from './leaf-columns/service.ts'
import type { Call } from './messages/call-wire.ts'
import type { CallsQueryStatsReq, CallsStreamQueryReq } from './messages/list-wire.ts'
import { createListReader } from './read/execute.ts'
import { createExpansion } from './read/expansion.ts'
import { createExtras, hasExtras } from './read/extras.ts'
import { createIdScan } from './read/id-scan.ts'
import { checkedPage, checkSelection, type List } from './read/list.ts'
import * as queries from './read/queries.ts'
import { createTableSize } from './read/table-size.ts'
import { createRecentCalls, type RecentCalls } from './recent/recent-calls.ts'
import { type CallsRemoval, createCallsRemoval } from './removal/service.ts'
import { parseLines } from './render/parse-lines.ts'
import { hasPrefilter, isOfFamily } from './sql/filter.ts'
import type { Selection } from './sql/selection.ts'
import type { CallReadReq, CallReadRes, CallsQueryStatsRes } from './wire.ts'
import { type CallWriter, createCallWriter } from './write/writer.ts'

/** Calls: written in parts, read whole. */
export interface Calls extends CallWriter, CallReader {
  removal: CallsRemoval
}

/**
 * All reads of calls. All but `queryStats` take the request of `/calls/stream_query`, and @throws 4xx and 503 as it.
 */
export interface CallReader {
  /** Wire: 200 with null for an unknown call. */
  read(req: CallReadReq, context: CallContext): Promise<z.input<typeof CallReadRes>>
  /** A list in the wire's form: JSON lines, or objects where calls show more than their rows. */
  streamQuery(req: CallsStreamQueryReq, context: CallContext): Promise<AsyncIterable<Uint8Array | Call>>
  /** The same list for other parts of the server. */
  list(req: CallsStreamQueryReq, context: CallContext): Promise<AsyncIterable<Call>>
  /** The ids of that list alone. */
  ids(req: CallsStreamQueryReq, context: CallContext): Promise<AsyncIterable<string>>
  /** How many calls are selected, and their bytes. */
  queryStats(req: CallsQueryStatsReq, context: CallContext): Promise<z.input<typeof CallsQueryStatsRes>>
}

interface ReaderDeps {
  traces: TraceDb
  log: Pick<Log, 'warn'>
  feedback: Feedback
  refs: Pick<Refs, 'resolve'>
  costs: Pick<Costs, 'priceLists'>
}

export interface CallsDeps extends ReaderDeps {
  projects: Projects
  redaction: Pick<Redaction, 'of'>
  mutations: Mutations
  /** Memory for recent calls; 0 where other servers write to the same table. */
  recentBytesMax: number
}

/** Ids among which calls are counted; to find more takes as long as to count all. */
const COUNTED_IDS_MAX = 200

export function createCalls(deps: CallsDeps): Calls {
  const recent = createRecentCalls({ ...deps, bytesMax: deps.recentBytesMax })
  return {
    ...createCallWriter({ ...deps, recent }),
    ...createCallReader({ ...deps, recent }),
    removal: createCallsRemoval({ ...deps, recent }),
  }
}

function createCallReader(deps: ReaderDeps & { recent: RecentCalls }): CallReader {
  const { traces } = deps
  const leafColumns = createLeafColumns({ ...deps, projectSize: createProjectSize(deps) })
  const tableSize = createTableSize(deps)
  const lists = createListReader({ ...deps, tableSize })
  const idScan = createIdScan(deps)
  const expansion = createExpansion(deps)
  const extras = createExtras({ ...deps, expansion })

  async function checked(req: CallsStreamQueryReq, context: CallContext): Promise<List> {
    const page = checkedPage(req)
    const sortFields = page.sort_by.map(({ field }) => field)
    const expanded = await expansion.expandedFields(req, sortFields, req.expand_columns ?? [])
    return { req, selection: await withLeafColumns({ ...req, expanded }, sortFields), page, context }
  }

  async function withLeafColumns(selection: Selection, sortFields: readonly string[]): Promise<Selection> {
    const compared = selection.query == null ? [] : fieldsIn(selection.query)
    const paths = [...compared, ...sortFields].filter((path) => !selection.expanded?.has(path))
    return { ...selection, leafColumns: await leafColumns.of(selection.project_id, paths) }
  }

  async function* callsOf(list: List): AsyncGenerator<Call> {
    for await (const lines of lists.lines(list)) {
      const calls: Call[] = []
      await forEachYielding(parseLines(lines), (call) => calls.push(call))
      yield* yielding(extras.added(calls, list))
    }
  }

  async function read(req: CallReadReq, context: CallContext) {
    const list = await checked(req, context)
    const calls = (await lists.linesOfIds(list, [req.id])).flatMap((lines) => [...parseLines(lines)])
    for await (const call of extras.added(calls, list)) return { call }
    return { call: null }
  }

  async function streamQuery(req: CallsStreamQueryReq, context: CallContext) {
    const list = await checked(req, context)
    return hasExtras(req) ? callsOf(list) : lists.lines(list)
  }

  /** Ids that include those of the selected calls, where a search of texts finds few. */
  async function foundByText(
    { leafColumns: _, ...selection }: Selection,
    context: CallContext,
  ): Promise<readonly string[] | undefined> {
    if (isOfFamily(selection) || !hasPrefilter(selection) || !(await tableSize.isLarge())) return undefined
    return idScan.prefilteredIds({ selection, context }, { idsMax: COUNTED_IDS_MAX, usesWordIndex: true })
  }

  async function queryStats(req: CallsQueryStatsReq, context: CallContext) {
    checkSelection(req)
    if (req.limit != null && req.limit < 0) throw invalidRequest('limit must not be negative')
    const storageSize = req.include_total_storage_size ? 'with' : 'without'
    const expanded = await expansion.expandedFields(req, [], req.expand_columns ?? [])
    const selection = await withLeafColumns({ ...req, expanded }, [])
    const { count, bytes } = await counted(selection, { limit: req.limit, storageSize }, context)
    return {
      count: req.limit == null ? count : Math.min(count, req.limit),
      total_storage_size_bytes: storageSize === 'with' ? bytes : null,
      has_more: req.limit == null ? null : count > req.limit,
    }
  }

  /** Bytes are 0 without sizes. */
  async function counted(
    selection: Selection,
    options: { limit: number | null | undefined; storageSize: 'with' | 'without' },
    context: CallContext,
  ): Promise<{ count: number; bytes: number }> {
    const known = options.storageSize === 'without' ? deps.recent.count(selection) : undefined
    if (known !== undefined) return { count: known, bytes: 0 }
    // One row past the limit shows whether more exist.
    const limit = options.limit == null ? undefined : Math.min(options.limit + 1, Number.MAX_SAFE_INTEGER)
    // Leaf columns are counted as fast as few calls are found by them.
    const ids = await foundByText(selection, context)
    const query = queries.countCalls(selection, { ...options, limit, scope: ids ? { ids } : {} })
    const row = await firstOf(traces.query<{ count: number; bytes: number }>(query, context.signal))
    return row ?? { count: 0, bytes: 0 }
  }

  return {
    read,
    streamQuery,
    list: async (req, context) => callsOf(await checked(req, context)),
    ids: async (req, context) => lists.ids(await checked(req, context)),
    queryStats,
  }
}
