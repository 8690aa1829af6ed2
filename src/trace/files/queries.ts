import type { Query } from '../../stores/trace-db/port.ts'

/** The size of a file, the digest of its bytes, if the project has it, and the seconds since it was last sent. */
export function selectFile(projectId: string, digest: string): Query {
  return {
    sql: "SELECT size_bytes, stored_digest, dateDiff('second', created_at, now64(6)) AS age_s FROM files FINAL WHERE project_id = {project_id:String} AND digest = {digest:String}",
    params: { project_id: projectId, digest },
  }
}

export function sumSizes(projectId: string): Query {
  return {
    sql: 'SELECT sum(size_bytes) AS bytes FROM files FINAL WHERE project_id = {project_id:String}',
    params: { project_id: projectId },
  }
}

/** Those of the digests whose bytes any project has. */
export function selectKnown(digests: readonly string[]): Query {
  return {
    sql: 'SELECT DISTINCT stored_digest AS digest FROM files WHERE stored_digest IN {digests:Array(String)}',
    params: { digests },
  }
}

/** Files of some projects: all, or those of the digests, or from before a time. */
export interface FileSelection {
  projectIds: readonly string[]
  digests?: readonly string[]
  /** ISO 8601. */
  before?: string
}

export function whereOf({ projectIds, digests, before }: FileSelection): {
  where: string
  params: Query['params']
} {
  const conditions = ['project_id IN {projects:Array(String)}']
  if (digests !== undefined) conditions.push('digest IN {digests:Array(String)}')
  if (before !== undefined)
    conditions.push("created_at < parseDateTime64BestEffort({before:String}, 6, 'UTC')")
  return { where: conditions.join(' AND '), params: { projects: projectIds, digests, before } }
}

/** Digests of the bytes of the selected files in order, a page. */
export function selectDigests(selection: FileSelection, page: { after: string; limit: number }): Query {
  const { where, params } = whereOf(selection)
  return {
    sql: `SELECT DISTINCT stored_digest FROM files WHERE ${where} AND stored_digest > {after:String}
      ORDER BY stored_digest LIMIT {limit:UInt64}`,
    params: { ...params, ...page },
  }
}

export function countFiles(selection: FileSelection): Query {
  const { where, params } = whereOf(selection)
  return { sql: `SELECT count() AS count, sum(size_bytes) AS bytes FROM files WHERE ${where}`, params }
}

/** Rows with the same bytes that are not selected. */
export function countOthers(digest: string, selection: FileSelection): Query {
  const { where, params } = whereOf(selection)
  return {
    sql: `SELECT count() AS count FROM files WHERE stored_digest = {digest:String} AND NOT (${where})`,
    params: { ...params, digest },
  }
}
