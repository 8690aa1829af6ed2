import type { Query } from '../../../stores/trace-db/port.ts'
import { createParams } from '../../query-language/params.ts'
import { CALL_ROWS, MERGED_CALLS, VISIBLE } from '../sql/table.ts'

export interface TraceMember {
  id: string
  parent_id: string | null
}

/** Ids and parents of every call in the traces of the given calls, oldest first. */
export function selectTraceMembers(projectId: string, ids: readonly string[], limit: number): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  const list = params.bindIds(ids)
  return {
    sql: `SELECT id, nullIf(parent_id, '') AS parent_id FROM ${MERGED_CALLS} WHERE project_id = ${project} AND ${VISIBLE} AND id IN
      (SELECT id FROM ${CALL_ROWS} WHERE project_id = ${project} AND trace_id IN
        (SELECT trace_id FROM ${MERGED_CALLS} WHERE project_id = ${project} AND id IN ${list} AND trace_id != ''))
      ORDER BY started_at LIMIT ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}
