import { KEYS_AT_ONCE } from '../../stores/trace-db/keyed-changes.ts'
import type { Query } from '../../stores/trace-db/port.ts'

/** Tables of a project that were sent before a time, by their digests. */
export interface SentTables {
  project: string
  digests: readonly string[]
  before: string
}

const SENT_BEFORE = "created_at < parseDateTime64BestEffort({before:String}, 6, 'UTC')"
const SENT_TABLES = `digest IN {digests:Array(String)} AND ${SENT_BEFORE}`

export const DELETE_TABLES = `DELETE WHERE project_id = {project:String} AND ${SENT_TABLES}`

/** Rows of a project that were sent before a time and that no table has, those aside that are deleted. */
export function selectRowsOfNone(deleted: SentTables): Query {
  return {
    sql: `SELECT DISTINCT digest FROM table_rows WHERE project_id = {project:String} AND ${SENT_BEFORE}
      AND digest NOT IN (
        SELECT arrayJoin(row_digests) FROM tables WHERE project_id = {project:String} AND NOT (${SENT_TABLES}))
      LIMIT ${KEYS_AT_ONCE}`,
    params: { ...deleted },
  }
}

/** Rows of a project that were sent before a time, by their digests. */
export const ROWS_TO_DELETE = `project_id = {project:String} AND ${SENT_BEFORE} AND digest IN {digests:Array(String)}`
