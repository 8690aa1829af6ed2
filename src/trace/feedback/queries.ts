import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileQuery, compileSort } from '../query-language/compile.ts'
import { pageSql, type SortedPage } from '../query-language/page.ts'
import { createParams, type Params } from '../query-language/params.ts'
import type { Query } from '../query-language/wire.ts'
import { columnOf, feedbackField } from './fields.ts'

/** Selects feedback of a project. */
export interface Selection {
  project_id: string
  query?: Query | null | undefined
}

/** The selected rows in order, with the columns that the fields need. */
export function selectFeedback(selection: Selection, fields: readonly string[], page: SortedPage): Sql {
  const params = createParams()
  const columns = [...new Set(fields.map(columnOf))].join(', ')
  const where = conditions(selection, params)
  const order = compileSort(page.sort_by, feedbackField, params)
  return {
    sql: `SELECT ${columns} FROM feedback FINAL WHERE ${where} ORDER BY ${order} ${pageSql(page, params)}`,
    params: params.values,
  }
}

export function countFeedback(selection: Selection): Sql {
  const params = createParams()
  return {
    sql: `SELECT count() AS count FROM feedback FINAL WHERE ${conditions(selection, params)}`,
    params: params.values,
  }
}

/** The users of feedback by its ids. */
export function selectUsers(projectId: string, ids: readonly string[]): Sql {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `SELECT DISTINCT wb_user_id AS user FROM feedback FINAL WHERE project_id = ${project} AND id IN ${params.bindIds(ids)}`,
    params: params.values,
  }
}

/** Removes rows for good. */
export function deleteFeedback(projectId: string, keys: readonly { id: string }[]): Sql {
  return {
    sql: 'DELETE FROM feedback WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}',
    params: { project_id: projectId, ids: keys.map(({ id }) => id) },
  }
}

/** All with an id but one, that of a ref: `id` alone does not distinguish rows of the table. */
export function deleteReplaced(projectId: string, id: string, kept: { id: string; weave_ref: string }): Sql {
  return {
    sql: `DELETE FROM feedback WHERE project_id = {project_id:String} AND id = {id:String}
      AND NOT (id = {kept_id:String} AND weave_ref = {weave_ref:String})`,
    params: { project_id: projectId, id, kept_id: kept.id, weave_ref: kept.weave_ref },
  }
}

function conditions({ project_id, query }: Selection, params: Params): string {
  const project = `project_id = ${params.bindProject(project_id)}`
  return query == null ? project : `${project} AND ${compileQuery(query, feedbackField, params)}`
}
