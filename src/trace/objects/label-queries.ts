import type { Query } from '../../stores/trace-db/port.ts'

/** A label on a version. */
export interface LabelRow {
  kind: 'tag' | 'alias'
  object_id: string
  digest: string
  label: string
}

/** All labels of the named objects. */
export function selectLabels(projectId: string, objectIds: readonly string[]): Query {
  const from = (kind: LabelRow['kind'], table: string): string =>
    `SELECT '${kind}' AS kind, object_id, digest, ${kind} AS label FROM ${table} FINAL
      WHERE project_id = {project_id:String} AND object_id IN {object_ids:Array(String)}`
  return {
    sql: `SELECT * FROM (${from('tag', 'object_tags')} UNION ALL ${from('alias', 'object_aliases')}) ORDER BY label`,
    params: { project_id: projectId, object_ids: objectIds },
  }
}

/** The versions that aliases of the named objects stand for. */
export function selectAliases(
  projectId: string,
  names: readonly { object_id: string; digest: string }[],
): Query {
  return {
    sql: `SELECT 'alias' AS kind, object_id, digest, alias AS label FROM object_aliases FINAL
      WHERE project_id = {project_id:String} AND object_id IN {object_ids:Array(String)} AND alias IN {aliases:Array(String)}`,
    params: {
      project_id: projectId,
      object_ids: [...new Set(names.map((name) => name.object_id))],
      aliases: [...new Set(names.map((name) => name.digest))],
    },
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
