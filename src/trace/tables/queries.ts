import { invalidRequest } from '../../errors.ts'
import type { Query } from '../../stores/trace-db/port.ts'
import { compileSort, type FieldExpression } from '../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../query-language/json-path.ts'
import { type Page, pageSql } from '../query-language/page.ts'
import { createParams, type Params } from '../query-language/params.ts'
import { readableJson } from '../query-language/readable-json.ts'
import type { SortBy } from '../query-language/wire.ts'
import type { TableQueryReq } from './wire.ts'

/** The position of a row in its table. */
export interface Place {
  digest: string
  original_index: number
}

export interface ValueRow {
  digest: string
  val: string
}

/** The row digests of a table, in order. */
export function selectRowDigests(projectId: string, digest: string): Query {
  return {
    sql: `SELECT row_digests FROM tables WHERE project_id = {project_id:String} AND digest = {digest:String} LIMIT 1`,
    params: { project_id: projectId, digest },
  }
}

/** Which of the given rows a table has; no row when there is no such table. */
export function selectMembers(projectId: string, digest: string, rowDigests: readonly string[]): Query {
  return {
    sql: `SELECT arrayIntersect(row_digests, {row_digests:Array(String)}) AS members FROM tables
      WHERE project_id = {project_id:String} AND digest = {digest:String} LIMIT 1`,
    params: { project_id: projectId, digest, row_digests: rowDigests },
  }
}

/** The requested page, in order. Only values to sort by are read. */
export function selectPlaces(req: TableQueryReq, page: Page): Query {
  const params = createParams()
  const project = params.bindProject(req.project_id)
  const table = `FROM tables WHERE project_id = ${project} AND digest = ${params.bind(req.digest, 'String')} LIMIT 1`
  const chosen = req.filter?.row_digests
  // Wire: an empty list is no condition.
  const only = chosen?.length ? `WHERE digest IN ${params.bindTexts(chosen)}` : ''
  if (only === '' && !req.sort_by?.length) return { sql: slice(page, table, params), params: params.values }
  const rows = `SELECT digest, index - 1 AS original_index FROM (SELECT row_digests ${table})
    ARRAY JOIN row_digests AS digest, arrayEnumerate(row_digests) AS index ${only}`
  const rest = pageSql(page, params)
  if (!req.sort_by?.length) return { sql: `${rows} ORDER BY original_index ${rest}`, params: params.values }
  const { columns, order } = sortKeys(req.sort_by, params)
  return {
    sql: `SELECT digest, original_index FROM (${rows}) AS places LEFT ANY JOIN (
        SELECT digest, ${columns} FROM table_rows WHERE project_id = ${project} AND digest IN (SELECT digest FROM (${rows}))
      ) AS keys USING digest
      ORDER BY ${order}, original_index ${rest}`,
    params: params.values,
  }
}

/** A page of the table's own order is cut out of the list before it becomes rows. */
function slice({ limit, offset }: Page, table: string, params: Params): string {
  const start = params.bind(offset, 'UInt64')
  const length = limit === undefined ? '' : `, ${params.bind(limit, 'UInt64')}`
  return `SELECT digest, ${start} + index - 1 AS original_index
    FROM (SELECT arraySlice(row_digests, ${start} + 1${length}) AS page ${table})
    ARRAY JOIN page AS digest, arrayEnumerate(page) AS index ORDER BY index`
}

/** The bytes of known rows, in no order. */
export function selectRowSizes(projectId: string, rowDigests: readonly string[]): Query {
  const params = createParams()
  return {
    sql: `SELECT digest, any(length(val)) AS bytes FROM table_rows
      WHERE project_id = ${params.bindProject(projectId)} AND digest IN ${params.bindIds(rowDigests)} GROUP BY digest`,
    params: params.values,
  }
}

/** Values of known rows, in no order, perhaps with duplicates. */
export function selectValues(projectId: string, rowDigests: readonly string[]): Query {
  const params = createParams()
  return {
    sql: `SELECT digest, val FROM table_rows
      WHERE project_id = ${params.bindProject(projectId)} AND digest IN ${params.bindIds(rowDigests)}`,
    params: params.values,
  }
}

/** Number of rows of the given tables. */
export function selectCounts(projectId: string, digests: readonly string[]): Query {
  const params = createParams()
  return {
    sql: `SELECT digest, length(row_digests) AS count FROM tables
      WHERE project_id = ${params.bindProject(projectId)} AND digest IN ${params.bindTexts(digests)} LIMIT 1 BY digest`,
    params: params.values,
  }
}

/** The bytes of all rows of the given tables, as often as they appear in them. */
export function selectSizes(projectId: string, digests: readonly string[]): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `WITH places AS (
        SELECT table, arrayJoin(row_digests) AS digest FROM (
          SELECT digest AS table, row_digests FROM tables
          WHERE project_id = ${project} AND digest IN ${params.bindTexts(digests)} LIMIT 1 BY digest))
      SELECT table AS digest, sum(bytes) AS bytes FROM places LEFT ANY JOIN (
        SELECT digest, length(val) AS bytes FROM table_rows
        WHERE project_id = ${project} AND digest IN (SELECT digest FROM places)
      ) AS sizes USING digest GROUP BY table`,
    params: params.values,
  }
}

/** Each path becomes a column of its own, so that the join holds no other data of the rows. */
function sortKeys(sortBy: readonly SortBy[], params: Params): { columns: string; order: string } {
  const columns: string[] = []
  const keyOf = (path: string): FieldExpression => {
    const name = `key${columns.length}`
    columns.push(`${jsonLeaf(readableJson('val'), sortPath(path), params)} AS ${name}`)
    return { sql: name, kind: 'json' }
  }
  const order = compileSort(sortBy, keyOf, params)
  return { columns: columns.join(', '), order }
}

/** Wire: a path with an empty step is a bad request here. */
function sortPath(path: string): string[] {
  if (/^$|^\.|\.$|\.\./.test(path)) throw invalidRequest(`Invalid sort field: ${path.slice(0, 200)}`)
  return splitPath(path)
}
