import type { Query as Sql } from '../../stores/trace-db/port.ts'
import { compileQuery, compileSort } from '../query-language/compile.ts'
import { pageSql, type SortedPage } from '../query-language/page.ts'
import { createParams } from '../query-language/params.ts'
import type { Query } from '../query-language/wire.ts'
import { costField } from './fields.ts'

/** The costs of a project for which the query holds, in order. */
export function selectCosts(
  selection: { project_id: string; query?: Query | null | undefined },
  columns: readonly string[],
  page: SortedPage,
): Sql {
  const params = createParams()
  const project = `project_id = ${params.bindProject(selection.project_id)}`
  const where =
    selection.query == null ? project : `${project} AND ${compileQuery(selection.query, costField, params)}`
  const order = compileSort(page.sort_by, costField, params)
  return {
    sql: `SELECT ${columns.join(', ')} FROM costs FINAL WHERE ${where} ORDER BY ${order} ${pageSql(page, params)}`,
    params: params.values,
  }
}

/**
 * The newest prices of each model in a project, up to `limit` for each.
 * @throws 4xx for too many models, or too long names
 */
export function selectPrices(projectId: string, llmIds: readonly string[], limit: number): Sql {
  const params = createParams()
  return {
    sql: `SELECT llm_id, provider_id, 'project' AS pricing_level, project_id AS pricing_level_id, effective_date,
        prompt_token_cost, completion_token_cost, cache_read_input_token_cost, cache_creation_input_token_cost,
        prompt_token_cost_unit, completion_token_cost_unit, created_at, created_by
      FROM costs FINAL WHERE project_id = ${params.bindProject(projectId)} AND llm_id IN ${params.bindTexts(llmIds)}
      ORDER BY effective_date DESC, created_at DESC LIMIT ${params.bind(limit, 'UInt64')} BY llm_id`,
    params: params.values,
  }
}

/** Removes costs for good. */
export function deleteCosts(projectId: string, keys: readonly { id: string }[]): Sql {
  return {
    sql: 'DELETE FROM costs WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}',
    params: { project_id: projectId, ids: keys.map(({ id }) => id) },
  }
}
