import type { Query } from '../../stores/trace-db/port.ts'
import { CALL_ROWS, MERGED_CALLS, NEVER, PAYLOADS } from '../calls/sql/table.ts'

/** Bytes of the JSON of all calls of a project. */
export function sumCalls(projectId: string): Query {
  return sumOf(PAYLOADS.map((column) => `length(ifNull(${column}, ''))`).join(' + '), MERGED_CALLS, projectId)
}

export function sumObjects(projectId: string): Query {
  return sumOf(`length(ifNull(val, ''))`, 'objects FINAL', projectId)
}

/** Rows that several tables share are stored once. */
export function sumTableRows(projectId: string): Query {
  return sumOf('length(val)', 'table_rows FINAL', projectId)
}

export interface ActivityRow {
  project_id: string
  /** Hours before now; `hours` stands for all that is older. */
  hour: number
  calls: number
  failed: number
  last_call_at: string
}

/**
 * How many calls started in each project in each of the hours before now. Parts are counted and not calls, so that
 * nothing has to be merged for an overview: a call that was sent twice counts twice until its parts are.
 * @param find a part of the names of the projects, in any case; empty for all
 */
export function selectActivity(hours: number, find: string): Query {
  return {
    sql: `SELECT project_id,
        least(intDiv(greatest(dateDiff('second', if(has_start = 1, started_at, ended_at), now64(6)), 0), 3600), {hours:UInt8}) AS hour,
        countIf(has_start = 1) AS calls, countIf(ifNull(exception, '') != '') AS failed, max(started_at) AS last_call_at
      FROM ${CALL_ROWS} ${find === '' ? '' : 'PREWHERE positionCaseInsensitiveUTF8(project_id, {find:String}) > 0'}
      WHERE has_start = 1 OR ifNull(exception, '') != '' GROUP BY project_id, hour`,
    params: { hours, find },
  }
}

/**
 * Bytes of all projects of an entity: of calls the columns in which their sizes are stored, so that no payload is read.
 * `0` follows `/`, so that the projects are a range of the key.
 */
export function sumOfEntity(entity: string): Query[] {
  const sums = [
    ['start_bytes + end_bytes', `${MERGED_CALLS} WHERE`, ` AND deleted_at = ${NEVER}`],
    [`length(ifNull(val, ''))`, 'objects WHERE', ''],
    ['length(val)', 'table_rows WHERE', ''],
    ['size_bytes', 'files FINAL WHERE', ''],
  ] as const
  return sums.map(([bytes, from, and]) => ({
    sql: `SELECT sum(${bytes}) AS bytes FROM ${from} project_id >= {first:String} AND project_id < {end:String}${and}`,
    params: { first: `${entity}/`, end: `${entity}0` },
  }))
}

function sumOf(bytes: string, table: string, projectId: string): Query {
  return {
    sql: `SELECT sum(${bytes}) AS bytes FROM ${table} WHERE project_id = {project_id:String}`,
    params: { project_id: projectId },
  }
}
