import { notAllFound, notFound } from '../../errors.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { collectReply } from '../collect-reply.ts'
import { pageOf } from '../query-language/page.ts'
import { type LabelRow, selectAliases } from './label-queries.ts'
import type { VersionRow } from './queries.ts'
import * as queries from './queries.ts'
import type { ObjsQueryReq } from './wire.ts'

/** A version by a client's name for it: its digest, `latest`, `v<index>` or an alias. */
export interface VersionName {
  object_id: string
  digest: string
  /** An object and an op may share a name: one of this kind is preferred. */
  kind?: string | undefined
}

/** Reads versions, and separately their values, which may be large. */
export interface VersionReading {
  /** All versions of the named objects, deleted ones too, oldest first. */
  versionsOf(projectId: string, objectIds: readonly string[]): Promise<VersionRow[]>
  /** One version for each name, deleted ones too; undefined for versions that never existed, or do not match. */
  findVersions(
    projectId: string,
    names: readonly VersionName[],
    isWanted?: (version: VersionRow) => boolean,
  ): Promise<(VersionRow | undefined)[]>
  /** The live versions that a filter selects, in order. */
  selected(req: ObjsQueryReq): Promise<VersionRow[]>
  /** Of each object the live version that was published last, in order, where that is of a class. */
  lastPublished(projectId: string, baseObjectClass: string): Promise<VersionRow[]>
  valuesOf(projectId: string, versions: readonly VersionRow[]): Promise<Map<string, JsonText>>
  /** Bytes of the values. */
  sizesOf(projectId: string, versions: readonly VersionRow[]): Promise<Map<string, number>>
}

export function createVersionReading(traces: TraceDb): VersionReading {
  function versionsOf(projectId: string, objectIds: readonly string[]): Promise<VersionRow[]> {
    return rowsOf(traces.query<VersionRow>(queries.selectVersions(projectId, objectIds)))
  }

  /** The digests of names that are aliases, by the key of the name. */
  async function aliasesOf(projectId: string, names: readonly VersionName[]): Promise<Map<string, string>> {
    if (names.length === 0) return new Map()
    const rows = await rowsOf(traces.query<LabelRow>(selectAliases(projectId, names)))
    return new Map(rows.map(({ object_id, label, digest }) => [keyOf({ object_id, digest: label }), digest]))
  }

  async function findVersions(
    projectId: string,
    names: readonly VersionName[],
    isWanted: (version: VersionRow) => boolean = () => true,
  ): Promise<(VersionRow | undefined)[]> {
    const all = await versionsOf(projectId, [...new Set(names.map((name) => name.object_id))])
    const known = all.filter(isWanted)
    const byObject = Map.groupBy(known, (version) => version.object_id)
    const find = ({ object_id, digest, kind }: VersionName): VersionRow | undefined => {
      const versions = byObject.get(object_id) ?? []
      const preferred = kind === undefined ? [] : versions.filter((version) => version.kind === kind)
      return findIn(preferred, digest) ?? findIn(versions, digest)
    }
    const aliases = await aliasesOf(
      projectId,
      names.filter((name) => find(name) === undefined),
    )
    return names.map((name) => find(name) ?? find({ ...name, digest: aliases.get(keyOf(name)) ?? '' }))
  }

  async function valuesOf(
    projectId: string,
    versions: readonly VersionRow[],
  ): Promise<Map<string, JsonText>> {
    if (versions.length === 0) return new Map()
    const rows = traces.query<queries.ValueRow>(queries.selectValues(projectId, versions))
    const values = await collectReply(rows, (row) => row.val?.length ?? 0)
    return new Map(values.map((row) => [keyOf(row), new JsonText(row.val ?? 'null')]))
  }

  async function sizesOf(projectId: string, versions: readonly VersionRow[]): Promise<Map<string, number>> {
    const rows = await rowsOf(traces.query<queries.SizeRow>(queries.selectSizes(projectId, versions)))
    return new Map(rows.map((row) => [keyOf(row), row.bytes]))
  }

  return {
    versionsOf,
    findVersions,
    lastPublished: (projectId, baseObjectClass) =>
      rowsOf(traces.query<VersionRow>(queries.selectLastPublished(projectId, baseObjectClass))),
    selected: (req) => rowsOf(traces.query<VersionRow>(queries.selectObjects(req, pageOf(req)))),
    valuesOf,
    sizesOf,
  }
}

/** Identifies versions within a project. */
export function keyOf(version: VersionName): string {
  return `${version.object_id} ${version.digest}`
}

/**
 * Finds the named versions of an object among all of them, deleted ones too; each is there once.
 * @throws 404 when one does not exist. Wire: of several names, it says how many were found and which were not.
 */
export function pickAll(
  versions: readonly VersionRow[],
  { object_id, digests }: { object_id: string; digests: readonly string[] },
): VersionRow[] {
  const found = new Map(digests.map((digest) => [digest, findIn(versions, digest)]))
  const missing = [...found].flatMap(([digest, version]) => (version === undefined ? [digest] : []))
  const picked = [...new Set([...found.values()].filter((version) => version !== undefined))]
  const [first] = missing
  if (first === undefined) return picked
  if (found.size === 1) throw unknownVersion({ object_id, digest: first })
  throw notAllFound(
    `Delete request contains ${digests.length} digests, but found ${picked.length} objects to delete. ` +
      `Not found: ${missing.map((digest) => digest.slice(0, 100)).join(', ')}`,
  )
}

/** 404: there never was such a version. */
export function unknownVersion({ object_id, digest }: VersionName): Error {
  return notFound('Obj', `${object_id}:${digest}`)
}

function findIn(versions: readonly VersionRow[], digest: string): VersionRow | undefined {
  if (digest === 'latest') return latestOf(versions)
  const index = /^v(\d+)$/.exec(digest)?.[1]
  return versions.find((version) =>
    index === undefined ? version.digest === digest : version.version_index === Number(index),
  )
}

/**
 * The latest may be of another class than requested; where every version was deleted, the newest one's time is
 * reported.
 */
function latestOf(versions: readonly VersionRow[]): VersionRow | undefined {
  return (
    versions.findLast((version) => version.is_latest === 1) ?? versions.findLast(isLive) ?? versions.at(-1)
  )
}

export function isLive(version: VersionRow): boolean {
  return version.is_live === 1
}

/** Whether no other live version of its object was published after this one, which is among them. */
export function isPublishedLast(versions: readonly VersionRow[], version: VersionRow): boolean {
  const others = versions.filter(
    ({ kind, object_id }) => kind === version.kind && object_id === version.object_id,
  )
  return others.every((other) => !isLive(other) || other.published_at <= version.published_at)
}
