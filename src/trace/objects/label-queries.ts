import type { Query } from '../../stores/trace-db/port.ts'
import { createParams } from '../query-language/params.ts'

/** A label on a version. */
export interface LabelRow {
  kind: 'tag' | 'alias'
  object_id: string
  digest: string
  label: string
}

/** All labels of the named objects. */
export function selectLabels(projectId: string, objectIds: readonly string[]): Query {
  const params = createParams()
  const where = `project_id = ${params.bindProject(projectId)} AND object_id IN ${params.bindIds(objectIds)}`
  const from = (kind: LabelRow['kind'], table: string): string =>
    `SELECT '${kind}' AS kind, object_id, digest, ${kind} AS label FROM ${table} FINAL WHERE ${where}`
  return {
    sql: `SELECT * FROM (${from('tag', 'object_tags')} UNION ALL ${from('alias', 'object_aliases')}) ORDER BY label`,
    params: params.values,
  }
}

/** When a label of an object was changed last. */
export function selectLastChange(projectId: string, objectId: string): Query {
  const from = (table: string): string =>
    `SELECT changed_at FROM ${table} WHERE project_id = {project_id:String} AND object_id = {object_id:String}`
  return {
    sql: `SELECT max(changed_at) AS changed_at FROM (${from('object_tags')} UNION ALL ${from('object_aliases')})
      HAVING count() > 0`,
    params: { project_id: projectId, object_id: objectId },
  }
}

/** The versions that aliases of the named objects stand for. */
export function selectAliases(
  projectId: string,
  names: readonly { object_id: string; digest: string }[],
): Query {
  const params = createParams()
  const objectIds = params.bindTexts([...new Set(names.map((name) => name.object_id))])
  const aliases = params.bindTexts([...new Set(names.map((name) => name.digest))])
  return {
    sql: `SELECT 'alias' AS kind, object_id, digest, alias AS label FROM object_aliases FINAL
      WHERE project_id = ${params.bindProject(projectId)} AND object_id IN ${objectIds} AND alias IN ${aliases}`,
    params: params.values,
  }
}

export function listTags(projectId: string): Query {
  return {
    sql: 'SELECT DISTINCT tag AS label FROM object_tags FINAL WHERE project_id = {project_id:String} ORDER BY tag',
    params: { project_id: projectId },
  }
}

export function listAliases(projectId: string): Query {
  return {
    sql: 'SELECT DISTINCT alias AS label FROM object_aliases FINAL WHERE project_id = {project_id:String} ORDER BY alias',
    params: { project_id: projectId },
  }
}
