import { compileQuery, type FieldResolver } from '../../query-language/compile.ts'
import type { Params } from '../../query-language/params.ts'
import { expandedField } from './expanded-field.ts'
import { createFeedbackFields } from './feedback-fields.ts'
import { callField } from './fields.ts'
import { filterSql } from './filter.ts'
import { createQueueField, QUEUE_FIELD } from './queue-field.ts'
import type { Selection } from './selection.ts'
import { MERGED_CALLS } from './table.ts'

/** The parts of a query for the selected calls, each merged. */
export interface SelectedCalls {
  where: string
  /** Resolves the fields that the rest of the query uses. */
  field: FieldResolver
  /** FROM and the joins that fields need: to be called once all fields are resolved. */
  from(): string
}

/** @throws 4xx for a query of fields that there are not */
export function selectionSql(
  selection: Selection,
  params: Params,
  filter: (selection: Selection, params: Params) => string = filterSql,
): SelectedCalls {
  const feedback = createFeedbackFields(selection.project_id, params)
  const queue = createQueueField(selection.project_id, params)
  const field: FieldResolver = (path) => {
    if (path.startsWith('feedback.')) return feedback.field(path)
    if (path === QUEUE_FIELD) return queue.field()
    const expanded = selection.expanded?.get(path)
    return expanded === undefined
      ? callField(path, params, selection.leafColumns)
      : expandedField(path, expanded, params)
  }
  const where = [filter(selection, params)]
  if (selection.query != null) where.push(compileQuery(selection.query, field, params))
  return {
    where: where.join(' AND '),
    field,
    from: () => `${MERGED_CALLS} ${feedback.joins()} ${queue.join()}`,
  }
}
