import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileSort } from '../query-language/compile.ts'
import { createParams } from '../query-language/params.ts'
import type { SortBy } from '../query-language/wire.ts'
import { callField, type PayloadColumn } from './fields.ts'
import { conditions, type Selection, selectionSql, VISIBLE } from './selection.ts'

export interface Page {
  sort_by: readonly SortBy[]
  limit: number | undefined
  offset: number
}

/** Columns of the `calls` table as a list reads them; payloads are JSON texts. */
export interface CallRow {
  id: string
  project_id: string
  trace_id: string
  op_name: string
  started_at: string
  display_name: string | null
  parent_id: string | null
  thread_id: string | null
  turn_id: string | null
  ended_at: string | null
  exception: string | null
  error_count: number
  wb_user_id: string | null
  wb_run_id: string | null
  wb_run_step: number | null
  wb_run_step_end: number | null
  deleted_at: string | null
  attributes?: string | null
  inputs?: string | null
  output?: string | null
  summary?: string | null
  storage_size_bytes?: number
}

/** Small columns: reading all of them costs less than working out which are needed. */
const SMALL_COLUMNS = [
  'id',
  'project_id',
  'trace_id',
  'op_name',
  'started_at',
  'display_name',
  'parent_id',
  'thread_id',
  'turn_id',
  'ended_at',
  'exception',
  'error_count',
  'wb_user_id',
  'wb_run_id',
  'wb_run_step',
  'wb_run_step_end',
  'deleted_at',
]

const STORAGE_SIZE = `length(ifNull(attributes, '')) + length(ifNull(inputs, '')) + length(ifNull(output, '')) + length(ifNull(summary, ''))`

/** The ids of the selected calls, in order; no payload is read unless the condition or the order asks for one. */
export function selectIds(selection: Selection, page: Page): Sql {
  const params = createParams()
  const { where, field, from } = selectionSql(selection, params)
  const order = compileSort(page.sort_by, field, params)
  const limit = page.limit === undefined ? '' : `LIMIT ${params.bind(page.limit, 'UInt64')}`
  const offset = page.offset === 0 ? '' : `OFFSET ${params.bind(page.offset, 'UInt64')}`
  return {
    sql: `SELECT calls.id AS id FROM ${from()} WHERE ${where} ORDER BY ${order} ${limit} ${offset}`,
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

/** The rows of known ids, in no order. */
export function selectRows(
  projectId: string,
  ids: readonly string[],
  columns: { payloads: readonly PayloadColumn[]; storageSize: 'with' | 'without' },
): Sql {
  const params = createParams()
  const size = columns.storageSize === 'with' ? [`${STORAGE_SIZE} AS storage_size_bytes`] : []
  const selected = [...SMALL_COLUMNS, ...columns.payloads, ...size].join(', ')
  const project = params.bind(projectId, 'String')
  const list = params.bind(ids, 'Array(String)')
  return {
    sql: `SELECT ${selected} FROM calls FINAL WHERE project_id = ${project} AND id IN ${list} AND ${VISIBLE}`,
    params: params.values,
  }
}

/** Total payload bytes of each given trace. */
export function selectTraceSizes(projectId: string, traceIds: readonly string[]): Sql {
  const params = createParams()
  const project = params.bind(projectId, 'String')
  const list = params.bind(traceIds, 'Array(String)')
  return {
    sql: `SELECT trace_id, sum(${STORAGE_SIZE}) AS bytes FROM calls FINAL
      WHERE project_id = ${project} AND trace_id IN ${list} AND ${VISIBLE} GROUP BY trace_id`,
    params: params.values,
  }
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
    sql: `SELECT id, parent_id FROM calls FINAL WHERE project_id = ${project} AND ${VISIBLE} AND trace_id IN
      (SELECT trace_id FROM calls FINAL WHERE project_id = ${project} AND id IN ${list})
      ORDER BY started_at LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}
