import { compilePrefilters, type FieldExpression, type FieldResolver } from '../../query-language/compile.ts'
import { fieldsIn } from '../../query-language/fields-in.ts'
import { createParams, type Params } from '../../query-language/params.ts'
import type { CallsFilter } from '../messages/list-wire.ts'
import { callField } from './fields.ts'
import type { Selection } from './selection.ts'
import { CALL_ROWS, PAYLOADS, VISIBLE } from './table.ts'

type Filtered = Pick<Selection, 'project_id' | 'filter'>

/** SQL that is true for the merged calls of a project that a filter selects, found by an index where there is one. */
export function filterSql(selection: Filtered, params: Params): string {
  const project = params.bindProject(selection.project_id)
  return [...familyConditions(project, selection.filter, params), filterSqlAmong(selection, params)].join(
    ' AND ',
  )
}

/** The same for a query over few calls: among ids, or within a range of them. */
export function filterSqlAmong({ project_id, filter }: Filtered, params: Params): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return [project, VISIBLE, ...startConditions(filter, params), ...endConditions(filter, params)].join(
    ' AND ',
  )
}

/** SQL that is true for the rows, not merged, that started the calls of {@link filterSql}; their ends are not read. */
export function startRowsSql({ project_id, filter }: Filtered, params: Params): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return [project, 'has_start = 1', ...startConditions(filter, params)].join(' AND ')
}

/**
 * Conditions in SQL, each true for at least one row, not merged, of every selected call; none where they would be for
 * nearly all rows. A merged column has the value of one of its rows, so a condition on one column alone is true for
 * that row.
 */
export function prefiltersSql(selection: Selection, params: Params, usesWordIndex: boolean): string[] {
  const project = params.bindProject(selection.project_id)
  const family = familyColumn(selection.filter)
  if (family !== undefined)
    return [`project_id = ${project} AND ${family.column} IN ${params.bindTexts(family.values)}`]
  if (selection.query == null) return []
  // Of calls in a range of start times an index finds the rows, which are fewer than those of all calls.
  const leafColumns = fieldsIn(selection.query).includes('started_at') ? undefined : selection.leafColumns
  const isPayload = (path: string): boolean => PAYLOADS.some((payload) => path.split('.')[0] === payload)
  const field: FieldResolver = (path) => {
    if (!isPayload(path) || selection.expanded?.has(path)) return NOT_A_COLUMN
    const column = callField(path, params, leafColumns)
    return usesWordIndex ? column : { ...column, hasWordIndex: false }
  }
  const prefilters = compilePrefilters(selection.query, field, params)
  return prefilters.map((prefilter) => `project_id = ${project} AND ${prefilter}`)
}

/** Whether there are {@link prefiltersSql}. @throws 4xx for a query that cannot be compiled */
export function hasPrefilter(selection: Selection): boolean {
  return prefiltersSql(selection, createParams(), false).length > 0
}

/** A field whose value is not in a single row. */
const NOT_A_COLUMN: FieldExpression = { sql: 'NULL', kind: 'text' }

/** Columns with an index and selective values. */
const FAMILY_COLUMNS = [
  ['trace_id', 'trace_ids'],
  ['parent_id', 'parent_ids'],
  ['thread_id', 'thread_ids'],
] as const

/** Whether a filter selects calls by id, or those of some traces, parents or threads, which are few. */
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
 * A few calls among many are found by an index of unmerged rows: merging needs whole granules, and would read all
 * neighbouring rows.
 */
function familyConditions(project: string, filter: CallsFilter | null | undefined, params: Params): string[] {
  const family = familyColumn(filter)
  if (family === undefined) return []
  const values = params.bindTexts(family.values)
  return [
    `id IN (SELECT id FROM ${CALL_ROWS} WHERE project_id = ${project} AND ${family.column} IN ${values})`,
  ]
}

function startConditions(filter: CallsFilter | null | undefined, params: Params): string[] {
  if (filter == null) return []
  const found: string[] = []
  const isIn = (column: string, values: readonly string[] | null | undefined): void => {
    // Absent values are stored as an empty text, which must not match an empty text in a filter.
    if (values?.length) found.push(`(${column} != '' AND ${column} IN ${params.bindTexts(values)})`)
  }
  if (filter.op_names?.length) found.push(anyVersionOf('op_name', filter.op_names, params))
  if (filter.input_refs?.length) found.push(anyRefOf('input_refs', filter.input_refs, params))
  isIn('parent_id', filter.parent_ids)
  isIn('trace_id', filter.trace_ids)
  isIn('id', filter.call_ids)
  isIn('wb_user_id', filter.wb_user_ids)
  isIn('wb_run_id', filter.wb_run_ids)
  for (const [column, values] of [
    ['thread_id', threadsOf(filter)],
    ['turn_id', turnsOf(filter)],
  ] as const)
    if (values !== undefined) found.push(`(${column} != '' AND ${column} IN ${params.bindTexts(values)})`)
  if (filter.trace_roots_only) found.push(`parent_id = ''`)
  return found
}

/** The threads that a filter selects, in which an empty list is none. Wire: other empty lists are no condition. */
export function threadsOf({ thread_ids }: CallsFilter): readonly string[] | undefined {
  return thread_ids ?? undefined
}

/** The same of turns. Wire: where nothing else is in the filter, an empty list of turns is no condition either. */
export function turnsOf({
  turn_ids,
  trace_roots_only,
  thread_ids,
  ...lists
}: CallsFilter): readonly string[] | undefined {
  if (turn_ids == null) return undefined
  const isAlone =
    trace_roots_only == null && thread_ids == null && Object.values(lists).every((values) => !values?.length)
  return turn_ids.length === 0 && isAlone ? undefined : turn_ids
}

function endConditions(filter: CallsFilter | null | undefined, params: Params): string[] {
  return filter?.output_refs?.length ? [anyRefOf('output_refs', filter.output_refs, params)] : []
}

/** Ends the name of an op of which all versions are meant. */
export const ANY_VERSION = ':*'

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
