/** Deletes tables of a project that were sent before a time, by their digests. */
export const DELETE_TABLES = `DELETE WHERE project_id = {project:String} AND digest IN {digests:Array(String)}
  AND created_at < parseDateTime64BestEffort({before:String}, 6, 'UTC')`

/** Deletes rows of a project that were sent before a time and that no table has. */
export const DELETE_ROWS_OF_NONE = `DELETE WHERE project_id = {project:String}
  AND created_at < parseDateTime64BestEffort({before:String}, 6, 'UTC') AND digest NOT IN (
    SELECT arrayJoin(row_digests) FROM tables WHERE project_id = {project:String})`
