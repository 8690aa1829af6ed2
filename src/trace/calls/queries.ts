import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileQuery, compileSort } from '../query-language/compile.ts'
import { createParams, type Params } from '../query-language/params.ts'
import type { Query, SortBy } from '../query-language/wire.ts'
import { callField } from './fields.ts'
import type { CallsFilter } from './wire.ts'

/** Which calls of a project are meant. */
export interface Selection {
  project_id: string
  filter?: CallsFilter | null | undefined
  query?: Query | null | undefined
}

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

export type PayloadColumn = 'attributes' | 'inputs' | 'output' | 'summary'

const STORAGE_SIZE = `length(ifNull(attributes, '')) + length(ifNull(inputs, '')) + length(ifNull(output, '')) + length(ifNull(summary, ''))`

/** Deleted calls vanish; an end without a start is not shown until the start arrives. */
const VISIBLE = 'isNull(deleted_at) AND isNotNull(op_name) AND isNotNull(started_at) AND isNotNull(trace_id)'

/** The ids of the selected calls, in order; no payload is read unless the condition or the order asks for one. */
export function selectIds(selection: Selection, page: Page): Sql {
  const params = createParams()
  const where = conditions(selection, params)
  const order = compileSort(page.sort_by, callField, params)
  const limit = page.limit === undefined ? '' : `LIMIT ${params.bind(page.limit, 'UInt64')}`
  const offset = page.offset === 0 ? '' : `OFFSET ${params.bind(page.offset, 'UInt64')}`
  return {
    sql: `SELECT id FROM calls FINAL WHERE ${where} ORDER BY ${order} ${limit} ${offset}`,
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
  const where = conditions(selection, params)
  const size = options.storageSize === 'with' ? STORAGE_SIZE : '0'
  const limit = options.limit === undefined ? '' : `LIMIT ${params.bind(options.limit, 'UInt64')}`
  return {
    sql: `SELECT count() AS count, sum(size) AS bytes FROM (SELECT ${size} AS size FROM calls FINAL WHERE ${where} ${limit})`,
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

function conditions({ project_id, filter, query }: Selection, params: Params): string {
  const all = [
    `project_id = ${params.bind(project_id, 'String')}`,
    VISIBLE,
    ...filterConditions(filter, params),
  ]
  if (query != null) all.push(compileQuery(query, callField, params))
  return all.join(' AND ')
}

function filterConditions(filter: CallsFilter | null | undefined, params: Params): string[] {
  if (filter == null) return []
  const found: string[] = []
  const isIn = (column: string, values: readonly string[] | null | undefined): void => {
    if (values?.length) found.push(`${column} IN ${params.bind(values, 'Array(String)')}`)
  }
  if (filter.op_names?.length) found.push(anyVersionOf('op_name', filter.op_names, params))
  if (filter.input_refs?.length) found.push(anyRefOf('input_refs', filter.input_refs, params))
  if (filter.output_refs?.length) found.push(anyRefOf('output_refs', filter.output_refs, params))
  isIn('parent_id', filter.parent_ids)
  isIn('trace_id', filter.trace_ids)
  isIn('id', filter.call_ids)
  isIn('wb_user_id', filter.wb_user_ids)
  isIn('wb_run_id', filter.wb_run_ids)
  // Wire: an empty list is no condition, except for threads and turns, where it matches nothing.
  for (const [column, values] of [
    ['thread_id', filter.thread_ids],
    ['turn_id', filter.turn_ids],
  ] as const) {
    if (values != null) found.push(`ifNull(${column} IN ${params.bind(values, 'Array(String)')}, 0)`)
  }
  if (filter.trace_roots_only) found.push('isNull(parent_id)')
  return found
}

const ANY_VERSION = ':*'

function anyVersionOf(column: string, names: readonly string[], params: Params): string {
  const exact = names.filter((name) => !name.endsWith(ANY_VERSION))
  const prefixes = names.filter((name) => name.endsWith(ANY_VERSION)).map((name) => name.slice(0, -1))
  const options = prefixes.map((prefix) => `startsWith(${column}, ${params.bind(prefix, 'String')})`)
  if (exact.length > 0) options.push(`${column} IN ${params.bind(exact, 'Array(String)')}`)
  return `(${options.join(' OR ')})`
}

function anyRefOf(column: string, refs: readonly string[], params: Params): string {
  return `arrayExists(ref -> ${anyVersionOf('ref', refs, params)}, ${column})`
}
