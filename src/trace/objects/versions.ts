import { notFound } from '../../errors.ts'
import { JsonText } from '../../lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { collectReply } from '../collect-reply.ts'
import type { VersionRow } from './queries.ts'
import * as queries from './queries.ts'
import type { ObjsQueryReq } from './wire.ts'

/** A version by the names that clients give it: its digest, `latest`, or `v<index>`. */
export interface VersionName {
  object_id: string
  digest: string
}

/** Reads versions, and apart from them, because they may be large, their values. */
export function createVersionReading(traces: TraceDb) {
  return {
    /** All versions of the named objects, deleted ones too, oldest first. */
    versionsOf: (projectId: string, objectIds: readonly string[]): Promise<VersionRow[]> =>
      rowsOf(traces.query<VersionRow>(queries.selectVersions(projectId, objectIds))),

    /** The live versions that a filter selects, in order. */
    selected: (req: ObjsQueryReq): Promise<VersionRow[]> =>
      rowsOf(traces.query<VersionRow>(queries.selectObjects(req))),

    async valuesOf(projectId: string, versions: readonly VersionRow[]): Promise<Map<string, JsonText>> {
      if (versions.length === 0) return new Map()
      const rows = traces.query<queries.ValueRow>(queries.selectValues(projectId, versions))
      const values = await collectReply(rows, (row) => row.val?.length ?? 0)
      return new Map(values.map((row) => [keyOf(row), new JsonText(row.val ?? 'null')]))
    },

    /** Bytes of the values. */
    async sizesOf(projectId: string, versions: readonly VersionRow[]): Promise<Map<string, number>> {
      const rows = await rowsOf(traces.query<queries.SizeRow>(queries.selectSizes(projectId, versions)))
      return new Map(rows.map((row) => [keyOf(row), row.bytes]))
    },
  }
}

/** What tells versions apart within a project. */
export function keyOf(version: VersionName): string {
  return `${version.object_id} ${version.digest}`
}

/** Finds one version of an object among all of them, deleted ones too. @throws 404 when there is none. */
export function pick(versions: readonly VersionRow[], { object_id, digest }: VersionName): VersionRow {
  const index = /^v(\d+)$/.exec(digest)?.[1]
  const found =
    digest === 'latest'
      ? latestOf(versions)
      : versions.find((version) =>
          index === undefined ? version.digest === digest : version.version_index === Number(index),
        )
  if (found === undefined) throw notFound('Obj', `${object_id}:${digest}`)
  return found
}

/** Where every version was deleted, the newest says when. */
function latestOf(versions: readonly VersionRow[]): VersionRow | undefined {
  return versions.findLast((version) => version.is_latest === 1) ?? versions.at(-1)
}

export function isLive(version: VersionRow): boolean {
  return version.is_live === 1
}
