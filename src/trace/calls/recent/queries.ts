import type { Query } from '../../../stores/trace-db/port.ts'
import { createParams } from '../../query-language/params.ts'
import { risesWithTimeSql } from '../sql/rising-id.ts'
import { CALL_ROWS } from '../sql/table.ts'

/** The bounds of a project's rows; no row where it has none. */
export function selectBounds(projectId: string): Query {
  const params = createParams()
  return {
    sql: `SELECT maxIf(id, ${risesWithTimeSql('id')}) AS id, maxIf(trace_id, ${risesWithTimeSql('trace_id')}) AS traceId,
      max(started_at) AS startedAt FROM ${CALL_ROWS} WHERE project_id = ${params.bindProject(projectId)} HAVING count() > 0`,
    params: params.values,
  }
}
