import type { FieldExpression } from '../../query-language/compile.ts'
import type { Params } from '../../query-language/params.ts'

/** The field with the annotation queues of a call. */
export const QUEUE_FIELD = 'annotation_queue_items.queue_id'

/** The queues of calls, joined to them as a table of its own once the field is in use. */
export interface QueueField {
  field(): FieldExpression
  /** The join that must follow the table of calls. */
  join(): string
}

export function createQueueField(projectId: string, params: Params): QueueField {
  let join = ''
  return {
    field() {
      const project = params.bindProject(projectId)
      const deleted = `SELECT queue_id FROM annotation_queue_calls WHERE project_id = ${project} AND call_id = ''`
      join = `LEFT JOIN (
          SELECT call_id AS queued_call, groupUniqArray(queue_id) AS queues_of_call
          FROM annotation_queue_calls WHERE project_id = ${project} AND queue_id NOT IN (${deleted}) GROUP BY queued_call
        ) AS queued_calls ON queued_call = calls.id`
      return { sql: 'queues_of_call', kind: 'text', many: true }
    },
    join: () => join,
  }
}
