import type { Query } from '../../../stores/trace-db/port.ts'
import { createParams } from '../../query-language/params.ts'
import { CALL_ROWS } from '../sql/table.ts'
import { UUID_CHARS, VERSION_AT } from './project-tail.ts'

/** The bounds of a project's rows; no row where it has none. */
export function selectBounds(projectId: string): Query {
  const params = createParams()
  const isUuid7 = `length(id) = ${UUID_CHARS} AND substring(id, ${VERSION_AT + 1}, 1) = '7'`
  return {
    sql: `SELECT maxIf(id, ${isUuid7}) AS id, max(started_at) AS startedAt FROM ${CALL_ROWS}
      WHERE project_id = ${params.bindProject(projectId)} HAVING count() > 0`,
    params: params.values,
  }
}
