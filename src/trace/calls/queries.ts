import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileExcerptSort, compileSort } from '../query-language/compile.ts'
import { pageSql, type SortedPage } from '../query-language/page.ts'
import { createParams, type Params } from '../query-language/params.ts'
import type { SortBy } from '../query-language/wire.ts'
import { callLine } from './call-lines.ts'
import type { ShownColumns } from './call-members.ts'
import { type CallRange, callRangeSql, type IdRange, idRangeSql } from './call-range.ts'
import { callColumns } from './call-text.ts'
import { callField } from './fields.ts'
import {
  conditions,
  partConditions,
  plainConditions,
  type Selection,
  selectionSql,
  VISIBLE,
} from './selection.ts'
import { boundSql, type TimeBound, type TimeWindow, withinSql } from './time-window.ts'

/** How a list shows its calls. */
export interface ShownCalls extends ShownColumns {
  order: readonly SortBy[]
}

const STORAGE_SIZE = 'start_bytes + end_bytes'

/** From when on a window looks. */
export function selectBound(selection: Selection, window: TimeWindow): Sql {
  const params = createParams()
  return { sql: boundSql(window, selection, params), params: params.values }
}

/** Where the calls of a list are known to be: among these, or on this side of a time. */
export interface Within {
  ids?: readonly string[]
  bound?: TimeBound | undefined
}

/**
 * The selected calls in order: id, bytes of payloads and start time. No payload is read unless the condition or the order
 * asks. In an order by excerpts, a call whose place is not sure is marked.
 */
export function selectIds(
  selection: Selection,
  page: SortedPage,
  { within, keys }: { within: Within; keys: 'excerpts' | 'whole' },
): Sql {
  const params = createParams()
  const selected = selectedWithin(selection, within, params)
  const { order, isUnsure } =
    keys === 'excerpts'
      ? compileExcerptSort(page.sort_by, selected.field, params)
      : { order: compileSort(page.sort_by, selected.field, params), isUnsure: '0' }
  const columns = `calls.id AS id, ${STORAGE_SIZE} AS bytes, calls.started_at AS startedAt, ${isUnsure} AS isUnsure`
  return { sql: listSql(columns, selected, { order, page }, params), params: params.values }
}

/** `selectionSql` for calls that are looked for at some place. */
function selectedWithin(
  selection: Selection,
  { ids, bound }: Within,
  params: Params,
): ReturnType<typeof selectionSql> {
  const place = [
    ...(ids ? [`id IN ${params.bindIds(ids)}`] : []),
    ...(bound ? [withinSql(bound, params)] : []),
  ]
  const selected = selectionSql(selection, params, ids ? plainConditions : conditions)
  return { ...selected, where: [...place, selected.where].join(' AND ') }
}

function listSql(
  columns: string,
  { where, from }: ReturnType<typeof selectionSql>,
  { order, page }: { order: string; page: SortedPage },
  params: Params,
): string {
  return `SELECT ${columns} FROM ${from()} WHERE ${where} ORDER BY ${order} ${pageSql(page, params)}`
}

/** Ids among which those of the selected calls are, some perhaps twice; undefined where they would be nearly all. */
export function selectCandidates(selection: Selection, limit: number): Sql | undefined {
  const params = createParams()
  const where = partConditions(selection, params)
  if (where === undefined) return undefined
  const count = params.bind(limit, 'UInt64')
  return { sql: `SELECT id FROM calls WHERE ${where} LIMIT ${count}`, params: params.values }
}

/** How many bytes of payloads there are of all calls within a range of ids. */
export function countBytes(projectId: string, ids: IdRange): Sql {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `SELECT sum(${STORAGE_SIZE}) AS bytes FROM calls WHERE project_id = ${project} AND ${idRangeSql(ids, params)}`,
    params: params.values,
  }
}

/** The different refs at a path of the calls that the filter selects; the query is not asked, since it may look behind them. */
export function selectRefs(selection: Selection, path: string, limit: number): Sql {
  const params = createParams()
  const ref = callField(path, params).sql
  return {
    sql: `SELECT DISTINCT ${ref} AS ref FROM calls FINAL WHERE ${conditions(selection, params)}
      AND startsWith(ifNull(${ref}, ''), 'weave:///') LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** Calls by their ids, or as neighbours in a list of {@link isInRanges}. */
export type CallSet = readonly string[] | CallRange

/** The rows of some calls, for `callTexts`, in the order of the list that they are of. */
export function selectRows(selection: Selection, calls: CallSet, shown: ShownCalls): Sql {
  const params = createParams()
  const where = withinSet(selection, calls, params)
  return {
    sql: rowsSql(callColumns(shown), selection, where, shown, params),
    params: params.values,
  }
}

/** The same calls as the lines that `callTexts` makes of them. */
export function selectLines(selection: Selection, calls: CallSet, shown: ShownCalls): Sql {
  const params = createParams()
  const where = withinSet(selection, calls, params)
  const sql = `${rowsSql(callLine(shown), selection, where, shown, params)} SETTINGS max_block_size = ${LINES_AT_ONCE}`
  return { sql, params: params.values }
}

/** Blocks of so many calls of some kilobytes stay in the processor's caches from step to step. */
const LINES_AT_ONCE = 1024

/** The rows of a short list at once, which spares planning a second query; it may take no more than `bytesMax` of memory. */
export function selectPage(
  selection: Selection,
  page: SortedPage,
  shown: ShownCalls,
  { within, bytesMax }: { within: Within; bytesMax: number },
): Sql {
  const params = createParams()
  const selected = selectedWithin(selection, within, params)
  const order = compileSort(page.sort_by, selected.field, params)
  const listOf = (columns: string): string => listSql(columns, selected, { order, page }, params)
  const columns = callColumns(shown)
  // Among few, to read what is not asked for takes less than to find what is.
  const rows = within.ids
    ? listOf(columns)
    : rowsSql(
        columns,
        selection,
        withinIds(selection, `(SELECT id FROM (${listOf('calls.id AS id')}))`, params),
        shown,
        params,
      )
  return { sql: `${rows} SETTINGS max_memory_usage = ${bytesMax}`, params: params.values }
}

function withinSet(selection: Selection, calls: CallSet, params: Params): string {
  if ('ids' in calls) return `${plainConditions(selection, params)} AND ${callRangeSql(calls, params)}`
  return withinIds(selection, params.bindIds(calls), params)
}

/** `ids` is SQL for a set. */
function withinIds({ project_id }: Selection, ids: string, params: Params): string {
  return `project_id = ${params.bindProject(project_id)} AND id IN ${ids} AND ${VISIBLE}`
}

function rowsSql(
  columns: string,
  selection: Selection,
  where: string,
  shown: ShownCalls,
  params: Params,
): string {
  const { field, from } = selectionSql({ ...selection, query: null, filter: null }, params)
  const order = compileSort(shown.order, field, params)
  const sizes = shown.totalStorageSize === 'with' ? traceSizesSql(selection, where, params) : ''
  return `SELECT ${columns} FROM ${from()} ${sizes} WHERE ${where} ORDER BY ${order}`
}

/** SQL that adds `trace_bytes`, what the trace of a call has together. */
function traceSizesSql({ project_id }: Selection, where: string, params: Params): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return `LEFT JOIN (SELECT trace_id AS sized_trace, sum(${STORAGE_SIZE}) AS trace_bytes FROM calls FINAL
    WHERE ${project} AND ${VISIBLE} AND id IN (SELECT id FROM calls WHERE ${project}
      AND trace_id IN (SELECT trace_id FROM calls WHERE ${where} AND trace_id != ''))
    GROUP BY trace_id) AS sizes ON sized_trace = calls.trace_id`
}

/** How many calls are selected, counted up to `limit`. */
export function countCalls(
  selection: Selection,
  options: { limit: number | undefined; storageSize: 'with' | 'without' },
): Sql {
  const params = createParams()
  const { where, from } = selectionSql(selection, params)
  const size = options.storageSize === 'with' ? STORAGE_SIZE : '0'
  const limit = options.limit === undefined ? '' : `LIMIT ${params.bind(options.limit, 'UInt64')}`
  return {
    sql: `SELECT count() AS count, sum(size) AS bytes FROM (SELECT ${size} AS size FROM ${from()} WHERE ${where} ${limit})`,
    params: params.values,
  }
}

/** Ids and parents of every call in the traces of the given calls, oldest first. */
export function selectFamilies(projectId: string, ids: readonly string[], limit: number): Sql {
  const params = createParams()
  const project = params.bindProject(projectId)
  const list = params.bindIds(ids)
  return {
    sql: `SELECT id, nullIf(parent_id, '') AS parent_id FROM calls FINAL WHERE project_id = ${project} AND ${VISIBLE} AND id IN
      (SELECT id FROM calls WHERE project_id = ${project} AND trace_id IN
        (SELECT trace_id FROM calls FINAL WHERE project_id = ${project} AND id IN ${list} AND trace_id != ''))
      ORDER BY started_at LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** How many rows there are of all calls of all projects. */
export function selectTableSize(): Sql {
  return {
    sql: `SELECT total_rows FROM system.tables WHERE database = currentDatabase() AND name = 'calls'`,
    params: {},
  }
}
