import type { Query } from '../../stores/trace-db/port.ts'
import { CALL_ROWS, PAYLOADS } from '../calls/sql/table.ts'
import { createParams, type Params } from '../query-language/params.ts'

/** Contents that are taken for unused at first by one search of all texts of a project. */
export const CANDIDATES_MAX = 2_000

/** What names a content in texts: the digest of a file, or the address of a table. */
const NAMES = { files: '([A-Za-z0-9]{43})', tables: '/table/([0-9a-f]{64})' }
export type ContentTable = keyof typeof NAMES

/** When contents were sent: before one time, and at another or later. */
export interface Sent {
  before?: string
  after?: string
}

/** A row where a project has contents that were sent in a time. */
export function selectAny(table: ContentTable, projectId: string, { before, after }: Sent): Query {
  const params = createParams()
  const conditions = [
    `project_id = ${params.bindProject(projectId)}`,
    ...(before === undefined ? [] : [`created_at < ${timeSql(before, params)}`]),
    ...(after === undefined ? [] : [`created_at >= ${timeSql(after, params)}`]),
  ]
  return {
    sql: `SELECT 1 AS found FROM ${table} WHERE ${conditions.join(' AND ')} LIMIT 1`,
    params: params.values,
  }
}

/** Contents from before a time that no text of their project seems to name, from one digest on. */
export function selectCandidates(
  table: ContentTable,
  projectId: string,
  { before, after }: { before: string; after: string },
): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  const named = `SELECT arrayJoin(extractAll(text, '${NAMES[table]}')) FROM (${textsOf(project)})`
  return {
    sql: `SELECT DISTINCT digest FROM ${table} FINAL WHERE project_id = ${project}
      AND created_at < ${timeSql(before, params)} AND digest > ${params.bind(after, 'String')} AND digest NOT IN (${named})
      ORDER BY digest LIMIT ${CANDIDATES_MAX}`,
    params: params.values,
  }
}

/** Those of the digests that do occur: the pattern misses a name that letters or digits touch. */
export function selectNamed(projectId: string, digests: readonly string[]): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  const all = params.bind(digests, 'Array(String)')
  return {
    sql: `SELECT DISTINCT arrayJoin(arrayFilter(digest -> position(text, digest) > 0, ${all})) AS digest
      FROM (${textsOf(project)}) WHERE multiSearchAny(text, ${all})`,
    params: params.values,
  }
}

/** Everything in a project that may name a file or a table. */
function textsOf(project: string): string {
  const payloads = PAYLOADS.map((payload) => `ifNull(${payload}, '')`).join(', ')
  return `SELECT arrayJoin([${payloads}]) AS text FROM ${CALL_ROWS} WHERE project_id = ${project}
    UNION ALL SELECT ifNull(val, '') AS text FROM objects WHERE project_id = ${project}
    UNION ALL SELECT val AS text FROM table_rows WHERE project_id = ${project}
    UNION ALL SELECT payload AS text FROM feedback WHERE project_id = ${project}`
}

function timeSql(time: string, params: Params): string {
  return `parseDateTime64BestEffort(${params.bind(time, 'String')}, 6, 'UTC')`
}
