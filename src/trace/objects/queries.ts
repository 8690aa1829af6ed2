import type { Query } from '../../stores/trace-db/port.ts'
import { type Page, pageSql } from '../query-language/page.ts'
import { createParams, type Params } from '../query-language/params.ts'
import type { ObjsFilter, ObjsQueryReq } from './wire.ts'

/** A version without its value. */
export interface VersionRow {
  object_id: string
  digest: string
  kind: string
  base_object_class: string | null
  leaf_object_class: string | null
  wb_user_id: string | null
  created_at: string
  /** The last time; of known content that is published again, this is kept for monitors alone. */
  published_at: string
  deleted_at: string | null
  version_index: number
  is_live: number
  is_latest: number
}

/** The value of a version; null where only the deletion is left. */
export interface ValueRow {
  object_id: string
  digest: string
  val: string | null
}

/** Size of the value of a version. */
export interface SizeRow {
  object_id: string
  digest: string
  bytes: number
}

/**
 * Every version of a project's objects. Indexes follow the first publication and count deleted versions too; the
 * latest is the live version that was first published last. Wire: a version that was deleted and published again was
 * created then, and keeps its index.
 */
function versions(project: string, condition: string): string {
  return `
    SELECT *, is_live AND row_number() OVER (
        PARTITION BY kind, object_id, is_live ORDER BY first_created_at DESC, digest DESC) = 1 AS is_latest
    FROM (
      SELECT object_id, digest, kind, base_object_class, leaf_object_class, wb_user_id, published_at, deleted_at,
        objects.created_at AS first_created_at,
        if(ifNull(published_at > deleted_at, 0), published_at, first_created_at) AS created_at,
        isNull(deleted_at) OR published_at > deleted_at AS is_live,
        row_number() OVER (PARTITION BY kind, object_id ORDER BY first_created_at, digest) - 1 AS version_index
      FROM objects FINAL WHERE project_id = ${project} AND ${condition}
    )`
}

/** All versions of the named objects, deleted ones too, oldest first. */
export function selectVersions(projectId: string, objectIds: readonly string[]): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  const condition = `object_id IN ${params.bindTexts(objectIds)}`
  return {
    sql: `SELECT * EXCEPT (first_created_at) FROM (${versions(project, condition)})
      ORDER BY object_id, first_created_at, digest`,
    params: params.values,
  }
}

/** The live versions that a filter selects, in order. Wire: only two fields sort, others are ignored. */
export function selectObjects(req: ObjsQueryReq, page: Page): Query {
  const params = createParams()
  const project = params.bindProject(req.project_id)
  const { object_ids: ids, name_contains: part } = req.filter ?? {}
  const named = [
    ...(ids?.length ? [`object_id IN ${params.bindTexts(ids)}`] : []),
    ...(part ? [`positionCaseInsensitiveUTF8(object_id, ${params.bind(part, 'String')}) > 0`] : []),
  ]
  const condition = named.join(' AND ') || '1'
  const order = (req.sort_by ?? [])
    .filter(({ field }) => field === 'object_id' || field === 'created_at')
    .map(({ field, direction }) => `${field} ${direction}`)
  return {
    sql: `SELECT * EXCEPT (first_created_at) FROM (${versions(project, condition)}) WHERE ${filterConditions(req.filter, project, params)}
      ORDER BY ${[...order, 'created_at asc', 'version_index asc', 'object_id asc'].join(', ')} ${pageSql(page, params)}`,
    params: params.values,
  }
}

/** Of each object the live version that was published last, in order, where that is of a class. */
export function selectLastPublished(projectId: string, baseObjectClass: string): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  const isOfClass = `base_object_class = ${params.bind(baseObjectClass, 'String')}`
  const condition = `object_id IN (SELECT object_id FROM objects WHERE project_id = ${project} AND ${isOfClass})`
  return {
    sql: `SELECT * EXCEPT (first_created_at) FROM (
        SELECT * FROM (${versions(project, condition)}) WHERE is_live
        ORDER BY published_at DESC, first_created_at DESC, digest DESC LIMIT 1 BY kind, object_id
      ) WHERE ${isOfClass} ORDER BY created_at, version_index, object_id`,
    params: params.values,
  }
}

function filterConditions(filter: ObjsFilter | null | undefined, project: string, params: Params): string {
  const found = ['is_live']
  const isIn = (column: string, values: readonly string[] | null | undefined): void => {
    if (values?.length) found.push(`${column} IN ${params.bindTexts(values)}`)
  }
  isIn('base_object_class', filter?.base_object_classes)
  isIn('leaf_object_class', filter?.leaf_object_classes)
  const excluded = filter?.exclude_base_object_classes
  // Wire: as in SQL, an object without a class is not NOT IN anything.
  if (excluded?.length) found.push(`base_object_class NOT IN ${params.bindTexts(excluded)}`)
  if (filter?.is_op != null) found.push(filter.is_op ? `kind = 'op'` : `kind != 'op'`)
  if (filter?.latest_only) found.push('is_latest')
  const labelled = (kind: 'tag' | 'alias', table: string, labels: readonly string[]): string =>
    `(object_id, digest) IN (SELECT object_id, digest FROM ${table} FINAL
      WHERE project_id = ${project} AND ${kind} IN ${params.bindTexts(labels)})`
  if (filter?.tags?.length) found.push(labelled('tag', 'object_tags', filter.tags))
  if (filter?.aliases?.length) {
    const set = labelled('alias', 'object_aliases', filter.aliases)
    found.push(filter.aliases.includes('latest') ? `(is_latest OR ${set})` : set)
  }
  return found.join(' AND ')
}

interface VersionId {
  object_id: string
  digest: string
}

/** Values of known versions, in no order. */
export function selectValues(projectId: string, ids: readonly VersionId[]): Query {
  return ofVersions('val', projectId, ids)
}

/** Bytes of the values of known versions, in no order. */
export function selectSizes(projectId: string, ids: readonly VersionId[]): Query {
  return ofVersions("length(ifNull(val, '')) AS bytes", projectId, ids)
}

/**
 * Two lists select the pairs: an object that has a version of another under the same digest has the same value there.
 */
function ofVersions(column: string, projectId: string, ids: readonly VersionId[]): Query {
  const params = createParams()
  const objectIds = params.bindIds([...new Set(ids.map((version) => version.object_id))])
  const digests = params.bindIds([...new Set(ids.map((version) => version.digest))])
  return {
    sql: `SELECT object_id, digest, ${column} FROM objects FINAL WHERE project_id = ${params.bindProject(projectId)}
      AND object_id IN ${objectIds} AND digest IN ${digests}`,
    params: params.values,
  }
}
