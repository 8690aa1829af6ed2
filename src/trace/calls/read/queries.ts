import type { BinaryQuery, Query as Sql } from '../../../stores/trace-db/port.ts'
import { compileSort, compileTruncatedSort } from '../../query-language/compile.ts'
import { pageSql, type SortedPage } from '../../query-language/page.ts'
import { createParams, type Params } from '../../query-language/params.ts'
import { lineSql } from '../render/by-database.ts'
import { callColumns, callColumnTypes } from '../render/by-server.ts'
import { callField } from '../sql/fields.ts'
import { filterSql, filterSqlAmong, isOfFamily, prefiltersSql, startRowsSql } from '../sql/filter.ts'
import { type SelectedCalls, selectionSql } from '../sql/selected-calls.ts'
import type { Selection } from '../sql/selection.ts'
import { CALL_ROWS, MERGED_CALLS, NEVER, STORAGE_BYTES, VISIBLE } from '../sql/table.ts'
import type { ShownCalls } from './list.ts'
import { type CallRange, callRangeSql, type IdRange, idRangeSql } from './ranges.ts'
import type { ScanWindow, WindowBound } from './scan-windows.ts'

/** The scope of a query: ids, or a window; all calls where it is empty. */
export interface Scope {
  ids?: readonly string[]
  bound?: WindowBound
}

/** The bound is this much further away than the calls to find: ids do not rise strictly with time. */
const SPARE_SHARE = 0.25
const SPARE_ROWS = 50

/** Where a window ends if ids rise with time; no row where it would hold all calls. */
export function selectBoundById(selection: Selection, window: ScanWindow): Sql {
  return boundQuery('id, started_at', selection, window, ['project_id', 'id'])
}

/** Where a window ends, whatever the ids; no row where it would hold all calls. */
export function selectBoundByStart(selection: Selection, window: ScanWindow): Sql {
  return boundQuery('started_at', selection, window, ['started_at'])
}

function boundQuery(
  columns: string,
  selection: Selection,
  { direction, calls }: ScanWindow,
  order: readonly string[],
): Sql {
  const params = createParams()
  const row = params.bind(Math.ceil(calls * (1 + SPARE_SHARE)) + SPARE_ROWS, 'UInt64')
  return {
    sql: `SELECT ${columns} FROM ${CALL_ROWS} WHERE ${startRowsSql(selection, params)}
      ORDER BY ${order.map((column) => `${column} ${direction}`).join()} LIMIT 1 OFFSET ${row}`,
    params: params.values,
  }
}

/** How many rows lie within a bound, of calls that are selected and others, counted up to `limit`. */
export function countWithin({ project_id }: Selection, bound: WindowBound, limit: number): Sql {
  const params = createParams()
  const rows = `SELECT 1 FROM ${CALL_ROWS} WHERE project_id = ${params.bindProject(project_id)}
    AND ${isWithinSql(bound, params)} LIMIT ${params.bind(limit, 'UInt64')}`
  return { sql: `SELECT count() AS count FROM (${rows})`, params: params.values }
}

/**
 * The selected calls in order: id, bytes of payloads and start time. Payloads are read only for the condition or the
 * order. In an order by truncated payloads, calls whose position is uncertain are marked.
 */
export function selectIds(
  selection: Selection,
  page: SortedPage,
  { scope, sortBy }: { scope: Scope; sortBy: 'truncated' | 'whole' },
): BinaryQuery {
  const params = createParams()
  const selected = selectedWithin(selection, scope, params)
  const { order, isUnsure } =
    sortBy === 'truncated'
      ? compileTruncatedSort(page.sort_by, selected.field, params)
      : { order: compileSort(page.sort_by, selected.field, params), isUnsure: '0' }
  const columns = `calls.id AS id, ${STORAGE_BYTES} AS bytes, calls.started_at AS startedAt, ${isUnsure} AS isUnsure`
  return {
    sql: listSql(columns, selected, { order, page }, params),
    params: params.values,
    columns: ['String', 'UInt64', 'DateTime64(6)', 'UInt8'],
  }
}

function selectedWithin(selection: Selection, { ids, bound }: Scope, params: Params): SelectedCalls {
  const within = [
    ...(ids ? [`id IN ${params.bindIds(ids)}`] : []),
    ...(bound ? [boundSql(selection, bound, params)] : []),
  ]
  const selected = selectionSql(selection, params, ids ? filterSqlAmong : filterSql)
  return { ...selected, where: [...within, selected.where].join(' AND ') }
}

/**
 * SQL that is true for calls that started within a bound. Scattered calls are selected by id, so that only their rows
 * are merged: their ids come from the unmerged rows within the bound. The merged start time is the maximum over the
 * rows of a call, so one of them has it.
 */
function boundSql({ project_id }: Selection, bound: WindowBound, params: Params): string {
  const isWithin = isWithinSql(bound, params)
  if (bound.calls === 'adjacent') return isWithin
  const project = params.bindProject(project_id)
  return `${isWithin} AND id IN (SELECT id FROM ${CALL_ROWS} WHERE project_id = ${project} AND ${isWithin})`
}

/**
 * SQL that is true for rows, merged or not, with a start time within a bound. The row of an end may have none ({@link
 * NEVER}).
 */
function isWithinSql({ direction, edge }: WindowBound, params: Params): string {
  const time = `parseDateTime64BestEffort(${params.bind(edge, 'String')}, 6, 'UTC')`
  return direction === 'desc' ? `started_at >= ${time}` : `started_at <= ${time} AND started_at != ${NEVER}`
}

function listSql(
  columns: string,
  { where, from }: SelectedCalls,
  { order, page }: { order: string; page: SortedPage },
  params: Params,
): string {
  return `SELECT ${columns} FROM ${from()} WHERE ${where} ORDER BY ${order} ${pageSql(page, params)}`
}

/**
 * Queries that each find ids of rows that include those of the selected calls, perhaps with duplicates; none where
 * nearly all rows would match.
 */
export function selectsPrefiltered(
  selection: Selection,
  { limit, usesWordIndex }: { limit: number; usesWordIndex: boolean },
): Sql[] {
  const params = createParams()
  const conditions = prefiltersSql(selection, params, usesWordIndex)
  const count = params.bind(limit, 'UInt64')
  // Indexes leave a granule or two, which several threads take a third longer to read than one.
  const settings = isOfFamily(selection) ? 'SETTINGS max_threads = 1' : ''
  return conditions.map((where) => ({
    sql: `SELECT id FROM ${CALL_ROWS} WHERE ${where} LIMIT ${count} ${settings}`,
    params: params.values,
  }))
}

/** Bytes of the payloads of all calls within a range of ids. */
export function countBytes(projectId: string, ids: IdRange): Sql {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `SELECT sum(${STORAGE_BYTES}) AS bytes FROM ${CALL_ROWS} WHERE project_id = ${project} AND ${idRangeSql(ids, params)}`,
    params: params.values,
  }
}

/**
 * The different refs at a path of the calls that the filter selects; the query is not applied, since it may use values
 * behind the refs.
 */
export function selectRefs(selection: Selection, path: string, limit: number): Sql {
  const params = createParams()
  const ref = callField(path, params).sql
  return {
    sql: `SELECT DISTINCT ${ref} AS ref FROM ${MERGED_CALLS} WHERE ${filterSql(selection, params)}
      AND startsWith(ifNull(${ref}, ''), 'weave:///') LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** Calls by their ids, or as neighbours in a list. */
export type CallSet = readonly string[] | CallRange

/** The rows of some calls, for `renderRows`, in the order of their list. */
export function selectRows(selection: Selection, calls: CallSet, shown: ShownCalls): BinaryQuery {
  const params = createParams()
  const where = withinSet(selection, calls, params)
  return {
    sql: rowsSql(callColumns(shown), selection, where, shown, params),
    params: params.values,
    columns: callColumnTypes(shown),
  }
}

/** The same calls as the lines that `renderRows` makes; `finishLines` completes them. */
export function selectLines(selection: Selection, calls: CallSet, shown: ShownCalls): Sql {
  const params = createParams()
  const where = withinSet(selection, calls, params)
  const sql = `${rowsSql(lineSql(shown), selection, where, shown, params)} SETTINGS max_block_size = ${LINES_AT_ONCE}`
  return { sql, params: params.values }
}

/** Blocks of this many calls of some kilobytes stay in the processor's caches between steps. */
const LINES_AT_ONCE = 1024

/**
 * The rows of a short list in one query, which saves planning a second one; it may use no more than `bytesMax` of
 * memory.
 */
export function selectPage(
  selection: Selection,
  page: SortedPage,
  shown: ShownCalls,
  { scope, bytesMax }: { scope: Scope; bytesMax: number },
): BinaryQuery {
  const params = createParams()
  const selected = selectedWithin(selection, scope, params)
  const order = compileSort(page.sort_by, selected.field, params)
  const listOf = (columns: string): string => listSql(columns, selected, { order, page }, params)
  const columns = callColumns(shown)
  // For few ids, reading unneeded columns takes less time than a lookup.
  const rows = scope.ids
    ? listOf(columns)
    : rowsSql(
        columns,
        selection,
        withinIds(selection, `(SELECT id FROM (${listOf('calls.id AS id')}))`, params),
        shown,
        params,
      )
  return {
    sql: `${rows} SETTINGS max_memory_usage = ${bytesMax}`,
    params: params.values,
    columns: callColumnTypes(shown),
  }
}

function withinSet(selection: Selection, calls: CallSet, params: Params): string {
  if ('ids' in calls) return `${filterSqlAmong(selection, params)} AND ${callRangeSql(calls, params)}`
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

/** SQL that adds `trace_bytes`, the total size of a call's trace. */
function traceSizesSql({ project_id }: Selection, where: string, params: Params): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return `LEFT JOIN (SELECT trace_id AS sized_trace, sum(${STORAGE_BYTES}) AS trace_bytes FROM ${MERGED_CALLS}
    WHERE ${project} AND ${VISIBLE} AND id IN (SELECT id FROM ${CALL_ROWS} WHERE ${project}
      AND trace_id IN (SELECT trace_id FROM ${CALL_ROWS} WHERE ${where} AND trace_id != ''))
    GROUP BY trace_id) AS sizes ON sized_trace = calls.trace_id`
}

/** How many calls are selected, counted up to `limit`. */
export function countCalls(
  selection: Selection,
  options: { limit: number | undefined; storageSize: 'with' | 'without'; scope?: Scope },
): Sql {
  const params = createParams()
  const { where, from } = selectedWithin(selection, options.scope ?? {}, params)
  const size = options.storageSize === 'with' ? STORAGE_BYTES : '0'
  const limit = options.limit === undefined ? '' : `LIMIT ${params.bind(options.limit, 'UInt64')}`
  return {
    sql: `SELECT count() AS count, sum(size) AS bytes FROM (SELECT ${size} AS size FROM ${from()} WHERE ${where} ${limit})`,
    params: params.values,
  }
}

/** Number of rows of all calls of all projects. */
export function selectTableSize(): Sql {
  return {
    sql: `SELECT total_rows FROM system.tables WHERE database = currentDatabase() AND name = '${CALL_ROWS}'`,
    params: {},
  }
}
