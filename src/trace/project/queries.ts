import type { Query } from '../../stores/trace-db/port.ts'

/** Bytes of the JSON of all calls of a project. */
export function sumCalls(projectId: string): Query {
  const columns = ['attributes', 'inputs', 'output', 'summary']
  return sumOf(columns.map((column) => `length(ifNull(${column}, ''))`).join(' + '), 'calls', projectId)
}

export function sumObjects(projectId: string): Query {
  return sumOf(`length(ifNull(val, ''))`, 'objects', projectId)
}

/** Rows that several tables share are stored once. */
export function sumTableRows(projectId: string): Query {
  return sumOf('length(val)', 'table_rows', projectId)
}

function sumOf(bytes: string, table: string, projectId: string): Query {
  return {
    sql: `SELECT sum(${bytes}) AS bytes FROM ${table} FINAL WHERE project_id = {project_id:String}`,
    params: { project_id: projectId },
  }
}
