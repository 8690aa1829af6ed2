import {
  compileQuery,
  compileSought,
  type FieldExpression,
  type FieldResolver,
} from '../query-language/compile.ts'
import type { Params } from '../query-language/params.ts'
import type { Query } from '../query-language/wire.ts'
import { type ExpandedField, expandedField } from './expanded-fields.ts'
import { createFeedbackFields } from './feedback-fields.ts'
import { callField, NEVER, PAYLOADS } from './fields.ts'
import { createQueueField, QUEUE_FIELD } from './queue-field.ts'
import type { CallsFilter } from './wire.ts'

/** Which calls of a project are meant. */
export interface Selection {
  project_id: string
  filter?: CallsFilter | null | undefined
  query?: Query | null | undefined
  /** Fields that lie behind refs, by path. */
  expanded?: ReadonlyMap<string, ExpandedField> | undefined
}

/** Deleted calls vanish; an end without a start is not shown until the start arrives. */
export const VISIBLE = `has_start = 1 AND deleted_at = ${NEVER}`

/** A query for the selected calls: its WHERE, the fields it may use, and, once all are in use, its FROM. */
export function selectionSql(selection: Selection, params: Params, filterSql = conditions) {
  const feedback = createFeedbackFields(selection.project_id, params)
  const queue = createQueueField(selection.project_id, params)
  const field: FieldResolver = (path) => {
    if (path.startsWith('feedback.')) return feedback.field(path)
    if (path === QUEUE_FIELD) return queue.field()
    const expanded = selection.expanded?.get(path)
    return expanded === undefined ? callField(path, params) : expandedField(path, expanded, params)
  }
  const where = [filterSql(selection, params)]
  if (selection.query != null) where.push(compileQuery(selection.query, field, params))
  return { where: where.join(' AND '), field, from: () => `calls FINAL ${feedback.joins()} ${queue.join()}` }
}

/** SQL that is true for the calls of a project that a filter selects. */
export function conditions(selection: Pick<Selection, 'project_id' | 'filter'>, params: Params): string {
  const project = params.bindProject(selection.project_id)
  return [...familyConditions(project, selection.filter, params), plainConditions(selection, params)].join(
    ' AND ',
  )
}

/** The same for calls that are looked for where they are known to be. */
export function plainConditions(
  { project_id, filter }: Pick<Selection, 'project_id' | 'filter'>,
  params: Params,
): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return [project, VISIBLE, ...startFilter(filter, params), ...endFilter(filter, params)].join(' AND ')
}

/** SQL that is true for the rows that started the calls of {@link conditions}, before the parts of calls are merged. */
export function startConditions(
  { project_id, filter }: Pick<Selection, 'project_id' | 'filter'>,
  params: Params,
): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return [project, 'has_start = 1', ...startFilter(filter, params)].join(' AND ')
}

/**
 * SQL that is true for at least one row of every selected call, before the parts of calls are merged; undefined where it
 * would be for nearly all. A merged column has the value of one of its parts, so a condition on one column alone is true for
 * that part.
 */
export function partConditions(selection: Selection, params: Params): string | undefined {
  const project = params.bindProject(selection.project_id)
  const told = familyColumn(selection.filter)
  if (told !== undefined)
    return `project_id = ${project} AND ${told.column} IN ${params.bindTexts(told.values)}`
  if (selection.query == null) return undefined
  const isPayload = (path: string): boolean => PAYLOADS.some((payload) => path.split('.')[0] === payload)
  const field: FieldResolver = (path) =>
    isPayload(path) && !selection.expanded?.has(path) ? callField(path, params) : ELSEWHERE
  const sought = compileSought(selection.query, field, params)
  return sought && `project_id = ${project} AND ${sought}`
}

/** A field that is no column of calls. */
const ELSEWHERE: FieldExpression = { sql: 'NULL', kind: 'text' }

/** Columns that tell the few calls that belong together. */
const FAMILY_COLUMNS = [
  ['trace_id', 'trace_ids'],
  ['parent_id', 'parent_ids'],
  ['thread_id', 'thread_ids'],
] as const

/** Whether a filter asks for calls that belong together, or by id, of which there are few. */
export function isOfFamily({ filter }: Pick<Selection, 'filter'>): boolean {
  return [filter?.call_ids, filter?.trace_ids, filter?.parent_ids, filter?.thread_ids].some(
    (ids) => ids?.length,
  )
}

function familyColumn(
  filter: CallsFilter | null | undefined,
): { column: string; values: readonly string[] } | undefined {
  for (const [column, name] of FAMILY_COLUMNS) {
    const values = filter?.[name]
    if (values?.length) return { column, values }
  }
  return undefined
}

/**
 * Few calls of many are found by an index of rows, before their parts are merged: merging needs whole granules, and would
 * read all that lie beside them.
 */
function familyConditions(project: string, filter: CallsFilter | null | undefined, params: Params): string[] {
  const told = familyColumn(filter)
  if (told === undefined) return []
  const values = params.bindTexts(told.values)
  return [`id IN (SELECT id FROM calls WHERE project_id = ${project} AND ${told.column} IN ${values})`]
}

function startFilter(filter: CallsFilter | null | undefined, params: Params): string[] {
  if (filter == null) return []
  const found: string[] = []
  const isIn = (column: string, values: readonly string[] | null | undefined): void => {
    // What is absent is stored as an empty text, which nobody asks for.
    if (values?.length) found.push(`(${column} != '' AND ${column} IN ${params.bindTexts(values)})`)
  }
  if (filter.op_names?.length) found.push(anyVersionOf('op_name', filter.op_names, params))
  if (filter.input_refs?.length) found.push(anyRefOf('input_refs', filter.input_refs, params))
  isIn('parent_id', filter.parent_ids)
  isIn('trace_id', filter.trace_ids)
  isIn('id', filter.call_ids)
  isIn('wb_user_id', filter.wb_user_ids)
  isIn('wb_run_id', filter.wb_run_ids)
  isIn('turn_id', filter.turn_ids)
  // Wire: an empty list is no condition, except for threads, where it matches nothing.
  if (filter.thread_ids != null)
    found.push(`(thread_id != '' AND thread_id IN ${params.bindTexts(filter.thread_ids)})`)
  if (filter.trace_roots_only) found.push(`parent_id = ''`)
  return found
}

function endFilter(filter: CallsFilter | null | undefined, params: Params): string[] {
  return filter?.output_refs?.length ? [anyRefOf('output_refs', filter.output_refs, params)] : []
}

const ANY_VERSION = ':*'

function anyVersionOf(column: string, names: readonly string[], params: Params): string {
  const exact = names.filter((name) => !name.endsWith(ANY_VERSION))
  const prefixes = names.filter((name) => name.endsWith(ANY_VERSION)).map((name) => name.slice(0, -1))
  const options = prefixes.map((prefix) => `startsWith(${column}, ${params.bind(prefix, 'String')})`)
  if (exact.length > 0) options.push(`${column} IN ${params.bindTexts(exact)}`)
  return `(${options.join(' OR ')})`
}

function anyRefOf(column: string, refs: readonly string[], params: Params): string {
  return `arrayExists(ref -> ${anyVersionOf('ref', refs, params)}, ${column})`
}
