import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileSort } from '../query-language/compile.ts'
import { pageSql, type SortedPage } from '../query-language/page.ts'
import { createParams, type Params } from '../query-language/params.ts'
import type { SortBy } from '../query-language/wire.ts'
import { callColumns, type ShownColumns } from './call-text.ts'
import { callField } from './fields.ts'
import { conditions, type Selection, selectionSql, VISIBLE } from './selection.ts'
import { boundSql, type TimeBound, type TimeWindow, withinSql } from './time-window.ts'

/** How a list shows its calls. */
export interface ShownCalls extends Omit<ShownColumns, 'totalStorageSize'> {
  order: readonly SortBy[]
  totalStorageSize: 'with' | 'without'
}

const STORAGE_SIZE = 'start_bytes + end_bytes'

/** From when on a window looks. */
export function selectBound(selection: Selection, window: TimeWindow): Sql {
  const params = createParams()
  return { sql: boundSql(window, selection, params), params: params.values }
}

/** Ids of the selected calls in order, and the bytes of their payloads, none of which is read unless the condition or the order asks. */
export function selectIds(selection: Selection, page: SortedPage, bound: TimeBound | undefined): Sql {
  const params = createParams()
  return { sql: idsSql(selection, page, bound, params), params: params.values }
}

function idsSql(
  selection: Selection,
  page: SortedPage,
  bound: TimeBound | undefined,
  params: Params,
): string {
  const { where, field, from } = selectionSql(selection, params)
  const order = compileSort(page.sort_by, field, params)
  return `SELECT calls.id AS id, ${STORAGE_SIZE} AS bytes FROM ${from()}
    WHERE ${bound ? `${withinSql(bound, params)} AND` : ''} ${where} ORDER BY ${order} ${pageSql(page, params)}`
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

/** The rows of calls whose ids are known, for `callTexts`, in the order of the list that they are of. */
export function selectRows(selection: Selection, ids: readonly string[], shown: ShownCalls): Sql {
  const params = createParams()
  return { sql: rowsSql(selection, params.bindIds(ids), shown, params), params: params.values }
}

/** The rows of a short page at once, which spares planning a second query; it may take no more than `bytesMax` of memory. */
export function selectPage(
  selection: Selection,
  page: SortedPage,
  shown: ShownCalls,
  { bound, bytesMax }: { bound: TimeBound | undefined; bytesMax: number },
): Sql {
  const params = createParams()
  const list = `(SELECT id FROM (${idsSql(selection, page, bound, params)}))`
  const sql = `${rowsSql(selection, list, shown, params)} SETTINGS max_memory_usage = ${bytesMax}`
  return { sql, params: params.values }
}

/** `ids` is SQL for a set. */
function rowsSql(selection: Selection, ids: string, shown: ShownCalls, params: Params): string {
  const { field, from } = selectionSql({ ...selection, query: null, filter: null }, params)
  const order = compileSort(shown.order, field, params)
  const project = params.bind(selection.project_id, 'String')
  const sizes = `(SELECT trace_id AS sized_trace, sum(${STORAGE_SIZE}) AS trace_bytes FROM calls FINAL
    WHERE project_id = ${project} AND ${VISIBLE} AND id IN (SELECT id FROM calls WHERE project_id = ${project}
      AND trace_id IN (SELECT trace_id FROM calls WHERE project_id = ${project} AND id IN ${ids} AND trace_id != ''))
    GROUP BY trace_id) AS sizes`
  const isSized = shown.totalStorageSize === 'with'
  const columns = callColumns({
    ...shown,
    totalStorageSize: isSized ? `if(parent_id = '', trace_bytes, NULL)` : undefined,
  })
  return `SELECT ${columns} FROM ${from()} ${isSized ? `LEFT JOIN ${sizes} ON sized_trace = calls.trace_id` : ''}
    WHERE project_id = ${project} AND id IN ${ids} AND ${VISIBLE} ORDER BY ${order}`
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
  const project = params.bind(projectId, 'String')
  const list = params.bind(ids, 'Array(String)')
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
