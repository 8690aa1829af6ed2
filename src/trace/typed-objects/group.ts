import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { isRecord } from '../../json/is-record.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import { slicesOf } from '../../slices.ts'
import type { Files } from '../files/service.ts'
import { OP_SOURCE_FILE, sourceFile } from '../objects/op-value.ts'
import type { Objects } from '../objects/service.ts'
import { projectIdOf } from '../project-path-wire.ts'
import type {
  CreatedVersion,
  DeleteReq,
  DeleteRes,
  ListReq,
  NamedVersion,
  Version,
  VersionPath,
} from './wire.ts'

/** Values that a listing holds at a time: a source may have some hundred kB. */
const PAGE = 50

export interface GroupDeps {
  objects: Objects
  files: Files
}

/** Objects of one kind or class. */
export interface Group<Shown> {
  /** For messages. */
  name: string
  filter: { is_op: boolean; base_object_classes?: string[]; latest_only?: boolean }
  /** The reply for a version; any client may have published it, so its fields may hold anything. */
  show(version: Stored, as: 'listed' | 'read'): Shown | Promise<Shown>
}

/** A version with its value. */
export interface Stored extends Version {
  project_id: string
  /** JSON. */
  text: string
  fields: Record<string, unknown>
}

/** A larger file is not source code written by a person. */
const SOURCE_BYTES_MAX = 1024 * 1024

/** The versions of a group; versions of other groups are not found. */
export interface GroupVersions<Shown> {
  list(req: ListReq): Promise<AsyncIterable<Shown>>
  /** @throws 404, with `deleted_at` for one that was deleted. */
  read(req: VersionPath): Promise<Shown>
  /** Wire: without digests, every live version. @throws 404 unless all exist. */
  delete(req: DeleteReq): Promise<DeleteRes>
}

interface PublishedGroup<Shown> extends GroupVersions<Shown> {
  /** Publishes a value; the same value again is the same version. */
  publish(
    named: { project_id: string; object_id: string; val: JsonText },
    context: CallContext,
  ): Promise<CreatedVersion>
}

export function createGroup<Shown>(
  { objects }: GroupDeps,
  { name, filter, show }: Group<Shown>,
): PublishedGroup<Shown> {
  const classes = filter.base_object_classes
  const isOf = (version: { kind: string; base_object_class: string | null }): boolean =>
    (version.kind === 'op') === filter.is_op &&
    (classes === undefined || classes.includes(version.base_object_class ?? ''))

  async function* shown(projectId: string, versions: readonly Version[]): AsyncGenerator<Shown> {
    for (const page of slicesOf(versions, PAGE)) {
      const values = await objects.readValues(projectId, page)
      const stored = page.flatMap((version, index) => {
        const value = values[index]
        // A version that was deleted meanwhile has no value.
        return value == null ? [] : [storedOf(projectId, version, value)]
      })
      // One by one: each may have a file of source in memory.
      for (const version of stored) yield await show(version, 'listed')
    }
  }

  async function list({ limit, offset, ...path }: ListReq): Promise<AsyncIterable<Shown>> {
    const project_id = projectIdOf(path)
    const { objs } = await objects.query({ project_id, filter, limit, offset, metadata_only: true })
    return shown(project_id, objs)
  }

  async function read({ object_id, digest, ...path }: VersionPath): Promise<Shown> {
    const project_id = projectIdOf(path)
    const { obj } = await objects.readOf({ project_id, object_id, digest }, isOf)
    if (obj.val === null) throw notFound(name, `${object_id}:${digest}`)
    return show(storedOf(project_id, obj, obj.val), 'read')
  }

  async function remove({ object_id, digests, ...path }: DeleteReq): Promise<DeleteRes> {
    const req = { project_id: projectIdOf(path), object_id, digests }
    const { num_deleted } = await objects.deleteOf(req, isOf)
    return { num_deleted }
  }

  async function publish(
    { project_id, object_id, val }: { project_id: string; object_id: string; val: JsonText },
    context: CallContext,
  ): Promise<CreatedVersion> {
    const { digest } = await objects.create({ obj: { project_id, object_id, val } }, context)
    const named = { project_id, object_id, digest, metadata_only: true }
    const { obj } = await objects.readOf(named, isOf)
    return { digest, object_id, version_index: obj.version_index }
  }

  return { list, read, delete: remove, publish }
}

/** The fields that every reply has of a version. */
export function versionOf({ object_id, digest, version_index, created_at }: Stored): Version {
  return { object_id, digest, version_index, created_at }
}

/** The same, with fields that most classes have. Clients publish objects without a name. */
export function namedOf(version: Stored): NamedVersion {
  const { name, description } = version.fields
  return {
    ...versionOf(version),
    name: textOf(name) ?? version.object_id,
    description: textOf(description) ?? null,
  }
}

/** Live versions of objects of one base class. */
export function ofClass(name: string): Pick<Group<never>, 'name' | 'filter'> {
  return { name, filter: { is_op: false, base_object_classes: [name] } }
}

export function objectRef(
  projectId: string,
  { object_id, digest }: { object_id: string; digest: string },
): string {
  return `weave:///${projectId}/object/${object_id}:${digest}`
}

/** Stores source code as a file, as clients do. */
export async function keepSource({ files }: GroupDeps, project_id: string, code: string): Promise<string> {
  return (await files.create({ project_id, file: sourceFile(code) })).digest
}

/** The source in a version's files; undefined where it is missing. */
export async function sourceOf(
  { files }: GroupDeps,
  { project_id, fields }: Stored,
): Promise<string | undefined> {
  const named = fields['files']
  const digest = isRecord(named) ? named[OP_SOURCE_FILE] : undefined
  const bytes =
    typeof digest === 'string'
      ? await files.read({ project_id, digest }, { bytesMax: SOURCE_BYTES_MAX })
      : undefined
  return bytes && Buffer.from(bytes).toString('utf8')
}

/** A text unchanged; any other published value as JSON; undefined for nothing. */
export function textOf(value: unknown): string | undefined {
  if (value == null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function storedOf(project_id: string, version: Version, val: JsonText): Stored {
  const { object_id, digest, version_index, created_at } = version
  const value = val.value()
  const fields = isRecord(value) ? value : {}
  return { project_id, object_id, digest, version_index, created_at, text: val.text, fields }
}
