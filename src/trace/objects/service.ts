import type { Projects } from '../../accounts/projects.ts'
import { deleted, invalidRequest, notFound } from '../../errors.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { nowAfter } from '../../time.ts'
import { createLabels, type Labelling, type Labels } from './labels.ts'
import { createIsMonitored } from './monitored-names.ts'
import { createPublisher, type OnChange, type Publisher, type Review } from './publisher.ts'
import type { VersionRow } from './queries.ts'
import {
  createVersionReading,
  isLive,
  keyOf,
  pickAll,
  unknownVersion,
  type VersionName,
  type VersionReading,
} from './versions.ts'
import type * as wire from './wire.ts'

/** Wire: versions named in one deletion. */
const DELETE_MAX = 100

/** Chooses versions by their kind and classes. */
type IsWanted = (version: Pick<VersionRow, 'kind' | 'base_object_class'>) => boolean

/** Objects: named values with versions, distinguished by the digest of their content. */
export interface Objects extends Publisher, Omit<Labelling, 'labelsOf' | 'removeLabels'> {
  /** Of an object and an op of one name the one of `kind`, where it is given. */
  read(req: wire.ObjReadReq & Pick<VersionName, 'kind'>): Promise<wire.ObjReadRes>
  /** A version among those of one kind or class. @throws 404, with `deleted_at` when the version was deleted. */
  readOf(req: wire.ObjReadReq, isWanted: IsWanted): Promise<wire.ObjReadRes>
  delete(req: wire.ObjDeleteReq): Promise<wire.ObjDeleteRes>
  /** Wire: without digests, every live version; all must be found, or none is deleted. */
  deleteOf(req: wire.ObjDeleteReq, isWanted: IsWanted): Promise<wire.ObjDeleteRes>
  /**
   * The values of versions of one project by their names; null for deleted ones, undefined for versions that never
   * existed.
   */
  readValues(projectId: string, names: readonly VersionName[]): Promise<(JsonText | null | undefined)[]>
  query(req: wire.ObjsQueryReq): Promise<wire.ObjsQueryRes>
  /**
   * Of each object of a class the version that was published last. Wire: that may be an older one than `latest`, if its
   * content was published once more.
   */
  lastPublished(projectId: string, baseObjectClass: string): Promise<wire.Obj[]>
  /** Calls a function for versions that this server publishes, deletes or erases from now on. */
  watchChanges(watcher: OnChange): void
  /** Tells those who watch of versions that an erasure has removed. */
  noteErased(projectIds: Iterable<string>): void
  /** Has objects that clients publish checked from now on. */
  reviewWith(reviewer: Review): void
}

export function createObjects(deps: {
  traces: TraceDb
  projects: Projects
  redaction: Pick<Redaction, 'of'>
}): Objects {
  const { traces, projects } = deps
  const reading = createVersionReading(traces)
  const { versionsOf, findVersions, selected, valuesOf, sizesOf } = reading
  const watchers = new Set<OnChange>()
  const onChange: OnChange = (change) => {
    for (const watcher of watchers) watcher(change)
  }
  let review: Review = async () => []
  const { labelsOf, removeLabels, ...labelling } = createLabels({ traces, projects })

  async function readOf(req: wire.ObjReadReq, isWanted: IsWanted): Promise<wire.ObjReadRes> {
    const [version] = await findVersions(req.project_id, [req], isWanted)
    if (version === undefined) throw unknownVersion(req)
    if (!isLive(version)) throw goneError(version)
    const values = req.metadata_only ? undefined : await valuesOf(req.project_id, [version])
    const labels = req.include_tags_and_aliases ? await labelsOf(req.project_id, [req.object_id]) : undefined
    return { obj: objOf(req.project_id, version, { values, labels }) }
  }

  async function deleteOf(req: wire.ObjDeleteReq, isWanted: IsWanted): Promise<wire.ObjDeleteRes> {
    if ((req.digests?.length ?? 0) > DELETE_MAX) throw invalidRequest(`At most ${DELETE_MAX} digests at once`)
    const versions = (await versionsOf(req.project_id, [req.object_id])).filter(isWanted)
    const { project_id, object_id, digests } = req
    const doomed = digests == null ? versions.filter(isLive) : pickAll(versions, { object_id, digests })
    const gone = doomed.find((version) => !isLive(version))
    if (gone !== undefined) throw goneError(gone)
    if (doomed.length === 0) throw notFound('Obj', req.object_id)
    const deleted_at = nowAfter(doomed.map(({ created_at }) => created_at))
    const rows = doomed.map((version) => deletionOf(project_id, version, deleted_at))
    // First, since a request that is repeated finds nothing to delete once the versions are gone.
    const removed = doomed.map(({ digest }) => digest)
    await removeLabels(project_id, object_id, removed)
    await traces.insert('objects', rows)
    for (const { base_object_class } of doomed) onChange({ project_id, base_object_class, kind: 'removed' })
    return { num_deleted: doomed.length, deleted_versions: doomed.map(classesOfVersion) }
  }

  async function readValues(
    projectId: string,
    names: readonly VersionName[],
  ): Promise<(JsonText | null | undefined)[]> {
    const found = await findVersions(projectId, names)
    const live = found.filter((version) => version !== undefined).filter(isLive)
    const values = await valuesOf(projectId, live)
    return found.map((version) => version && (values.get(keyOf(version)) ?? null))
  }

  async function query(req: wire.ObjsQueryReq): Promise<wire.ObjsQueryRes> {
    const versions = await selected(req)
    const options = {
      values: req.metadata_only ? undefined : await valuesOf(req.project_id, versions),
      sizes: req.include_storage_size ? await sizesOf(req.project_id, versions) : undefined,
      labels: req.include_tags_and_aliases
        ? await labelsOf(req.project_id, [...new Set(versions.map((version) => version.object_id))])
        : undefined,
    }
    return { objs: versions.map((version) => objOf(req.project_id, version, options)) }
  }

  function noteErased(projectIds: Iterable<string>): void {
    for (const project_id of projectIds)
      onChange({ project_id, base_object_class: undefined, kind: 'removed' })
  }

  function reviewWith(reviewer: Review): void {
    review = reviewer
  }

  return {
    read: (req) => readOf(req, () => true),
    readOf,
    delete: (req) => deleteOf(req, () => true),
    deleteOf,
    readValues,
    query,
    lastPublished: (projectId, baseObjectClass) => lastPublished(reading, projectId, baseObjectClass),
    ...createPublisher({
      ...deps,
      versionsOf,
      isMonitored: createIsMonitored(reading),
      onChange,
      review: (published, context) => review(published, context),
    }),
    watchChanges: (watcher) => void watchers.add(watcher),
    noteErased,
    reviewWith,
    ...labelling,
  }
}

async function lastPublished(
  reading: VersionReading,
  projectId: string,
  baseObjectClass: string,
): Promise<wire.Obj[]> {
  const versions = await reading.lastPublished(projectId, baseObjectClass)
  const options = { values: await reading.valuesOf(projectId, versions), labels: undefined }
  return versions.map((version) => objOf(projectId, version, options))
}

/** The other columns are those of the version: this row merges into it. */
function deletionOf(project_id: string, version: VersionRow, deleted_at: string): object {
  const { object_id, digest, kind, created_at } = version
  return { project_id, object_id, digest, kind, created_at, published_at: created_at, deleted_at }
}

interface ShapeOptions {
  values: Map<string, JsonText> | undefined
  sizes?: Map<string, number> | undefined
  labels: Map<string, Labels> | undefined
}

/** Wire: without the value, `val` is an empty object; `latest` stands before the other aliases. */
function objOf(projectId: string, version: VersionRow, { values, sizes, labels }: ShapeOptions): wire.Obj {
  const { is_live, published_at: _, ...shown } = version
  const own = labels?.get(keyOf(version))
  return {
    ...shown,
    project_id: projectId,
    deleted_at: is_live ? null : version.deleted_at,
    val: values === undefined ? new JsonText('{}') : (values.get(keyOf(version)) ?? null),
    size_bytes: sizes?.get(keyOf(version)) ?? null,
    tags: labels ? (own?.tags ?? []) : null,
    aliases: labels ? [...(version.is_latest ? ['latest'] : []), ...(own?.aliases ?? [])] : null,
  }
}

function classesOfVersion({ digest, base_object_class, leaf_object_class }: VersionRow) {
  return { digest, base_object_class, leaf_object_class }
}

function goneError(version: VersionRow): Error {
  const at = String(version.deleted_at)
  return deleted(`${version.object_id}:v${version.version_index} was deleted at ${at}`, at)
}
