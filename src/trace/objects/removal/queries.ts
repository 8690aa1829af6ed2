import { hasOneOf, KEYS_AT_ONCE, type Key } from '../../../stores/trace-db/keyed-changes.ts'
import type { Query } from '../../../stores/trace-db/port.ts'

/** Empty below its mark of NULL, so that the file has no bytes of it (`trace/calls/removal/queries.ts`). */
const NULL_ON_DISK = `if(length(project_id) < 0, '', NULL)`

/** True for rows with a value of versions that are deleted and were not published again. */
const DELETED = `isNotNull(val) AND (project_id, object_id, digest) IN (
  SELECT project_id, object_id, digest FROM objects GROUP BY project_id, object_id, digest
  HAVING max(deleted_at) >= max(published_at))`

/** Rows of versions that were deleted before a time. */
export function countDeleted(before: string): Query {
  return {
    sql: `SELECT count() AS count FROM objects WHERE isNotNull(val) AND (project_id, object_id, digest) IN (
      SELECT project_id, object_id, digest FROM objects GROUP BY project_id, object_id, digest
      HAVING max(deleted_at) >= max(published_at)
        AND max(deleted_at) <= parseDateTime64BestEffort({before:String}, 6, 'UTC'))`,
    params: { before },
  }
}

export function selectProjectsOfDeleted(): Query {
  return { sql: `SELECT DISTINCT project_id FROM objects WHERE ${DELETED}`, params: {} }
}

/** What distinguishes a row with the value of a version from one that publishes the version again. */
const PUBLISHED = {
  project_id: 'project_id',
  object_id: 'object_id',
  digest: 'digest',
  published: 'toString(toUnixTimestamp64Micro(published_at))',
}

export type PublishedKey = Key<keyof typeof PUBLISHED>

export function selectDeleted(): Query {
  const columns = Object.entries(PUBLISHED).map(([name, expression]) => `${expression} AS ${name}`)
  return {
    sql: `SELECT DISTINCT ${columns.join(', ')} FROM objects WHERE ${DELETED} LIMIT ${KEYS_AT_ONCE}`,
    params: {},
  }
}

/** Empties deleted versions. Their names and times stay: indexes of other versions count them. */
export function emptyDeleted(versions: readonly PublishedKey[]): {
  command: string
  params: Query['params']
} {
  const { where, params } = hasOneOf(PUBLISHED, versions)
  return {
    command: `UPDATE val = ${NULL_ON_DISK}, wb_user_id = ${NULL_ON_DISK} WHERE isNotNull(val) AND ${where}`,
    params,
  }
}

/** A version that a user has published and that is live. */
export interface PublishedRow {
  project_id: string
  object_id: string
  digest: string
  kind: string
  created_at: string
}

export function selectLiveOfUser(user: string, limit: number): Query {
  return {
    sql: `SELECT project_id, object_id, digest, kind, created_at FROM objects FINAL
      WHERE wb_user_id = {user:String} AND (isNull(deleted_at) OR published_at > deleted_at) LIMIT ${limit}`,
    params: { user },
  }
}
