import type { Cutoff } from '../../../removal.ts'
import { hasOneOf, KEYS_AT_ONCE, type Key } from '../../../stores/trace-db/keyed-changes.ts'
import type { Query } from '../../../stores/trace-db/port.ts'
import { createParams, type Params } from '../../query-language/params.ts'
import { CALL_ROWS, MERGED_CALLS, NEVER, STORAGE_BYTES } from '../sql/table.ts'

/** A change of rows of the table: commands for `Mutations.run`. */
export interface Change {
  commands: string[]
  params: Query['params']
}

/** SQL that is true for some rows, and its values. */
export interface Condition {
  where: string
  params: Query['params']
}

/** The columns of the table, of which a deleted call keeps the key and {@link KEPT}. */
export interface ColumnRow {
  name: string
  type: string
  /** `MATERIALIZED` for leaf columns, which follow their payloads. */
  default_kind: string
}

/** What says that a call was deleted. */
const KEPT = ['project_id', 'id', 'deleted_at']

/** True for rows of a start, an end or a name: all but the mark of a deleted call. */
const HAS_CONTENT = `(has_start = 1 OR ended_at > ${NEVER} OR isNotNull(display_name))`

/** The calls that were deleted; a row of theirs has the time of the deletion, others may lack it. */
const DELETED = `(project_id, id) IN (SELECT project_id, id FROM ${CALL_ROWS} WHERE deleted_at > ${NEVER})`

/** A call by its key. */
export type CallKey = Key<'project_id' | 'id'>

/** A deleted call, and when it was deleted. */
export type DeletedKey = Key<'project_id' | 'id' | 'marked_at'>

/**
 * NULL in every row, but no constant: a value that is set to NULL is only marked and its bytes stay in the file, unless
 * the database must compute the column anew. Then it is empty below the mark.
 */
export const NULL_ON_DISK = `if(length(project_id) < 0, '', NULL)`

export function countOfProjects(projectIds: readonly string[]): Query {
  const params = createParams()
  return {
    sql: `SELECT count() AS count, sum(${STORAGE_BYTES}) AS bytes FROM ${MERGED_CALLS} WHERE ${inProjects(projectIds, params)}`,
    params: params.values,
  }
}

export function deleteProjects(projectIds: readonly string[]): Change {
  const params = createParams()
  return { commands: [`DELETE WHERE ${inProjects(projectIds, params)}`], params: params.values }
}

export function selectColumns(): Query {
  return {
    sql: `SELECT name, type, default_kind FROM system.columns
      WHERE database = currentDatabase() AND table = '${CALL_ROWS}'`,
    params: {},
  }
}

/** Rows of deleted calls that have content and whose deletion was before a time. */
export function countDeleted(before: string): Query {
  const params = createParams()
  const time = timeSql(before, params)
  return {
    sql: `SELECT count() AS count FROM ${CALL_ROWS} WHERE ${HAS_CONTENT} AND (project_id, id) IN (
      SELECT project_id, id FROM ${CALL_ROWS} WHERE deleted_at > ${NEVER} AND deleted_at <= ${time})`,
    params: params.values,
  }
}

/** The projects with deleted calls that have content. */
export function selectProjectsOfDeleted(): Query {
  return {
    sql: `SELECT DISTINCT project_id FROM ${CALL_ROWS} WHERE ${HAS_CONTENT} AND ${DELETED}`,
    params: {},
  }
}

/**
 * Deleted calls with content in rows that lack the time of the deletion, which they would have once they are merged.
 */
export function selectUnmarked(): Query {
  return {
    sql: `SELECT project_id, id, max(deleted_at) AS marked_at FROM ${CALL_ROWS} WHERE ${DELETED}
      GROUP BY project_id, id HAVING countIf(${HAS_CONTENT} AND deleted_at = ${NEVER}) > 0 LIMIT ${KEYS_AT_ONCE}`,
    params: {},
  }
}

/**
 * Gives all rows of deleted calls a time of deletion. That changes one column, and a list of calls is compared with
 * rows once for each column that a change sets. The time is that of the first of these calls, so that it is never later
 * than a call's own.
 */
export function mark(calls: readonly DeletedKey[]): Change {
  const { where, params } = ofCalls(calls)
  const [first] = calls.map(({ marked_at }) => marked_at).sort()
  return {
    commands: [
      `UPDATE deleted_at = parseDateTime64BestEffort({first:String}, 6, 'UTC') WHERE deleted_at = ${NEVER} AND ${where}`,
    ],
    params: { ...params, first },
  }
}

/**
 * Empties all rows with a time of deletion; the marks stay, so that a part that comes later does not bring a call back.
 */
export function emptyDeleted(columns: readonly ColumnRow[]): Change {
  const changed = columns.filter(
    ({ name, default_kind }) => !KEPT.includes(name) && default_kind !== 'MATERIALIZED',
  )
  const values = changed.map(({ name, type }) => `${name} = ${emptyOf(type)}`)
  return {
    commands: [`UPDATE ${values.join(', ')} WHERE ${HAS_CONTENT} AND deleted_at > ${NEVER}`],
    params: {},
  }
}

/** The value of what a row leaves out (`sql/table.ts`). */
function emptyOf(type: string): string {
  if (type.includes('Nullable(String)')) return NULL_ON_DISK
  if (type.includes('Nullable(')) return `if(length(project_id) < 0, 0, NULL)`
  if (type.includes('Array(')) return '[]'
  if (type.includes('DateTime64(')) return NEVER
  return type.includes('String') ? "''" : '0'
}

/** True for marks of deleted calls from before a time. */
function oldMarks(before: string, params: Params): string {
  return `NOT ${HAS_CONTENT} AND deleted_at > ${NEVER} AND deleted_at < ${timeSql(before, params)}`
}

/** The projects with such marks. */
export function selectProjectsOfOldMarks(before: string): Query {
  const params = createParams()
  return {
    sql: `SELECT DISTINCT project_id FROM ${CALL_ROWS} WHERE ${oldMarks(before, params)}`,
    params: params.values,
  }
}

export function deleteOldMarks(before: string): Change {
  const params = createParams()
  return { commands: [`DELETE WHERE ${oldMarks(before, params)}`], params: params.values }
}

/** Rows with payloads that are older than the cutoffs: inputs since the start of their call, outputs since its end. */
export function countOldPayloads(cutoffs: readonly Cutoff[]): Query {
  const params = createParams()
  const [inputs, outputs] = oldPayloads(cutoffs, params)
  return {
    sql: `SELECT count() AS count FROM ${CALL_ROWS} WHERE ${inputs} OR ${outputs}`,
    params: params.values,
  }
}

export function emptyOldPayloads(cutoffs: readonly Cutoff[]): Change {
  const params = createParams()
  const [inputs, outputs] = oldPayloads(cutoffs, params)
  const emptied = (payload: 'input' | 'output', column: 'inputs' | 'output') =>
    `${column} = ${NULL_ON_DISK}, ${column}_excerpt = ${NULL_ON_DISK}, ${payload}_refs = []`
  return {
    commands: [
      `UPDATE ${emptied('input', 'inputs')}, start_bytes = length(ifNull(attributes, '')) WHERE ${inputs}`,
      `UPDATE ${emptied('output', 'output')}, end_bytes = length(ifNull(summary, '')) WHERE ${outputs}`,
    ],
    params: params.values,
  }
}

function oldPayloads(cutoffs: readonly Cutoff[], params: Params): readonly [inputs: string, outputs: string] {
  const inputs = anyOf(cutoffs, params, (time) => `has_start = 1 AND started_at < ${time}`)
  const outputs = anyOf(cutoffs, params, (time) => `ended_at > ${NEVER} AND ended_at < ${time}`)
  return [`isNotNull(inputs) AND (${inputs})`, `isNotNull(output) AND (${outputs})`]
}

/** Rows of calls that are older than the cutoffs, and ends of calls without a start. */
function oldCalls(cutoffs: readonly Cutoff[], params: Params): string {
  return anyOf(
    cutoffs,
    params,
    (time) =>
      `(has_start = 1 AND started_at < ${time} OR has_start = 0 AND ended_at > ${NEVER} AND ended_at < ${time})`,
  )
}

export function selectProjectsOfOldCalls(cutoffs: readonly Cutoff[]): Query {
  const params = createParams()
  return {
    sql: `SELECT DISTINCT project_id FROM ${CALL_ROWS} WHERE ${oldCalls(cutoffs, params)}`,
    params: params.values,
  }
}

/**
 * Old calls with ends and names that {@link deleteOldCalls} would leave. They are found by the start, which is deleted
 * later.
 */
export function selectPartsOfOldCalls(cutoffs: readonly Cutoff[]): Query {
  const params = createParams()
  const started = anyOf(cutoffs, params, (time) => `has_start = 1 AND started_at < ${time}`)
  return {
    sql: `SELECT DISTINCT project_id, id FROM ${CALL_ROWS} WHERE has_start = 0 AND NOT (${oldCalls(cutoffs, params)})
      AND (project_id, id) IN (SELECT project_id, id FROM ${CALL_ROWS} WHERE ${started}) LIMIT ${KEYS_AT_ONCE}`,
    params: params.values,
  }
}

export function deleteParts(calls: readonly CallKey[]): Change {
  const { where, params } = ofCalls(calls)
  return { commands: [`DELETE WHERE has_start = 0 AND ${where}`], params }
}

export function deleteOldCalls(cutoffs: readonly Cutoff[]): Change {
  const params = createParams()
  return { commands: [`DELETE WHERE ${oldCalls(cutoffs, params)}`], params: params.values }
}

export const FEEDBACK = 'feedback'

/** What a ref to a call of the row's project begins with, before the id of the call. */
const BEFORE_ID = `concat('weave:///', project_id, '/call/')`

/** Old calls with feedback, which {@link feedbackOn} finds. The set is of feedback: of calls there may be many more. */
export function selectOldCallsWithFeedback(cutoffs: readonly Cutoff[]): Query {
  const params = createParams()
  const projects = inProjects(
    cutoffs.flatMap(({ projectIds }) => projectIds),
    params,
  )
  return {
    sql: `SELECT DISTINCT project_id, id FROM ${CALL_ROWS} WHERE (${oldCalls(cutoffs, params)}) AND (project_id, id) IN (
      SELECT project_id, substring(weave_ref, length(${BEFORE_ID}) + 1) FROM ${FEEDBACK}
      WHERE ${projects} AND startsWith(weave_ref, ${BEFORE_ID})) LIMIT ${KEYS_AT_ONCE}`,
    params: params.values,
  }
}

/** A condition for feedback on calls. */
export function feedbackOn(calls: readonly CallKey[]): Condition {
  const refs = calls.map(({ project_id, id }) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/${id}`,
  }))
  return hasOneOf({ project_id: 'project_id', weave_ref: 'weave_ref' }, refs)
}

export function countOldFeedback(cutoffs: readonly Cutoff[]): Query {
  const { where, params } = oldFeedback(cutoffs)
  return { sql: `SELECT count() AS count FROM ${FEEDBACK} WHERE ${where}`, params }
}

/** A condition for feedback on any call that is older itself than calls of its project may be. */
export function oldFeedback(cutoffs: readonly Cutoff[]): Condition {
  const params = createParams()
  const old = anyOf(cutoffs, params, (time) => `created_at < ${time}`)
  return { where: `startsWith(weave_ref, ${BEFORE_ID}) AND (${old})`, params: params.values }
}

/** What a user has written and not deleted; a page of ids. */
export function selectCallsOfUser(user: string, limit: number): Query {
  const params = createParams()
  return {
    sql: `SELECT DISTINCT project_id, id FROM ${CALL_ROWS}
      WHERE wb_user_id = ${params.bind(user, 'String')} AND NOT ${DELETED} LIMIT ${limit}`,
    params: params.values,
  }
}

export function countOfUser(user: string, besides: readonly string[]): Query {
  const params = createParams()
  return {
    sql: `SELECT count() AS count, sum(${STORAGE_BYTES}) AS bytes FROM ${MERGED_CALLS}
      WHERE wb_user_id = ${params.bind(user, 'String')} AND NOT ${inProjects(besides, params)}`,
    params: params.values,
  }
}

function ofCalls(calls: readonly CallKey[]) {
  return hasOneOf({ project_id: 'project_id', id: 'id' }, calls)
}

function inProjects(projectIds: readonly string[], params: Params): string {
  return `project_id IN ${params.bind(projectIds, 'Array(String)')}`
}

function timeSql(time: string, params: Params): string {
  return `parseDateTime64BestEffort(${params.bind(time, 'String')}, 6, 'UTC')`
}

function anyOf(cutoffs: readonly Cutoff[], params: Params, isOld: (time: string) => string): string {
  return cutoffs
    .map(
      ({ projectIds, before }) => `(${inProjects(projectIds, params)} AND ${isOld(timeSql(before, params))})`,
    )
    .join(' OR ')
}
