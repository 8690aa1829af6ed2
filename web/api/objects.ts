import { queryOptions } from '@tanstack/react-query'
import type { Obj } from '../../src/trace/objects/wire.ts'
import type { TableRow } from '../../src/trace/tables/wire.ts'
import { ask, askJson } from './client.ts'
import { objectOf } from './json.ts'
import type { Json, OnWire } from './wire.ts'

export type StoredObject = OnWire<Obj>
export type StoredRow = OnWire<TableRow>

interface ObjectsFilter {
  base_object_classes?: readonly string[]
  object_ids?: readonly string[]
  /** A part of their names, in any case. */
  name_contains?: string
  is_op?: boolean
  latest_only?: boolean
}

/** Versions of one object; the newest are listed. */
const VERSIONS_MAX = 1000

/** Objects that a list loads at once: more than a screen has. */
export const OBJECTS_PAGE = 100

interface ObjectsPage {
  offset?: number
  limit: number
  /** Whether they come with their values. */
  values: 'with' | 'without'
  signal: AbortSignal
}

/** One page of versions of objects, the newest first. */
export async function listObjects(
  project_id: string,
  filter: ObjectsFilter,
  { offset = 0, limit, values, signal }: ObjectsPage,
): Promise<StoredObject[]> {
  const body = {
    project_id,
    filter,
    offset,
    limit,
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    metadata_only: values === 'without',
    include_tags_and_aliases: true,
  }
  return (await askJson<{ objs: StoredObject[] }>('/objs/query', { body, signal })).objs
}

/** One version: a digest, `v3`, `latest` or an alias. */
async function readObject(
  project_id: string,
  { name, version }: { name: string; version: string },
  signal: AbortSignal,
): Promise<StoredObject> {
  const body = { project_id, object_id: name, digest: version, include_tags_and_aliases: true }
  return (await askJson<{ obj: StoredObject }>('/obj/read', { body, signal })).obj
}

/** How a list of objects goes on: a page that is not full is the last. */
export const OBJECTS_PAGING = {
  initialPageParam: 0,
  getNextPageParam: (page: readonly unknown[], _pages: unknown, offset: number) =>
    page.length < OBJECTS_PAGE ? undefined : offset + OBJECTS_PAGE,
}

/** The versions of an object, the newest first. */
export function versionsQuery(project: string, name: string) {
  return queryOptions({
    queryKey: ['objects', project, name, 'versions'],
    queryFn: ({ signal }) =>
      listObjects(project, { object_ids: [name] }, { limit: VERSIONS_MAX, values: 'without', signal }),
  })
}

/** One version, by its digest or another name of it. */
export function objectQuery(project: string, name: string, version: string) {
  return queryOptions({
    queryKey: ['objects', project, name, version],
    queryFn: ({ signal }) => readObject(project, { name, version }, signal),
  })
}

/** The digest of the table that holds a dataset's rows. */
export function tableOf(dataset: Json): string | undefined {
  const rows = objectOf(dataset)['rows']
  return typeof rows === 'string' ? /^weave:\/\/\/[^/]+\/[^/]+\/table\/([^/]+)$/.exec(rows)?.[1] : undefined
}

/** How many rows each of some tables has. */
export async function countRows(
  project_id: string,
  digests: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const body = { project_id, digests }
  interface Reply {
    tables: { digest: string; count: number }[]
  }
  const { tables } = await askJson<Reply>('/table/query_stats_batch', { body, signal })
  return new Map(tables.map(({ digest, count }) => [digest, count]))
}

/** Rows of a table in its order. */
export async function readRows(
  project_id: string,
  table: { digest: string; offset: number; limit: number },
  signal: AbortSignal,
): Promise<StoredRow[]> {
  const body = { project_id, ...table }
  return (await askJson<{ rows: StoredRow[] }>('/table/query', { body, signal })).rows
}

/** The place of a row in its table, from 0; null where the table has no such row. */
export async function findRow(
  project_id: string,
  { digest, row }: { digest: string; row: string },
  signal: AbortSignal,
): Promise<number | null> {
  const body = { project_id, digest, filter: { row_digests: [row] }, limit: 1 }
  const { rows } = await askJson<{ rows: StoredRow[] }>('/table/query', { body, signal })
  return rows[0]?.original_index ?? null
}

/** The source of an op or a model; null where there is none. */
export function sourceQuery(project: string, object: StoredObject | undefined) {
  return queryOptions({
    queryKey: ['objects', project, object?.object_id, object?.digest, 'source'],
    enabled: object !== undefined,
    queryFn: async ({ signal }): Promise<string | null> => {
      const digest = objectOf(objectOf(object?.val)['files'])['obj.py']
      if (typeof digest !== 'string') return null
      const body = { project_id: project, digest }
      return await (await ask('/file/content', { body, signal })).text()
    },
  })
}
