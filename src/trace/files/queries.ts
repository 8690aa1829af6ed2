import type { Query } from '../../stores/trace-db/port.ts'

/** The size of a file and the digest of its bytes, if the project has it. */
export function selectFile(projectId: string, digest: string): Query {
  return {
    sql: 'SELECT size_bytes, stored_digest FROM files FINAL WHERE project_id = {project_id:String} AND digest = {digest:String}',
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
