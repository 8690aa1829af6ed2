import { placeOf, requireRight } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, notAllowed } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { nowAfter } from '../../time.ts'
import { checkExpectedDigest } from '../digest.ts'
import { digestOf } from '../digest-thread.ts'
import { isLonger } from '../text-length.ts'
import type { IsMonitored } from './monitored-names.ts'
import { classified, MONITOR_CLASS, type ObjectClasses } from './object-class.ts'
import type { VersionRow } from './queries.ts'
import { isLive, isPublishedLast, keyOf } from './versions.ts'
import type * as wire from './wire.ts'

/** Wire: longer names are refused with 400, other characters with 403. */
export const OBJECT_ID_CHARS_MAX = 128
const OBJECT_ID = /^[\p{L}\p{N}_.-]+$/u

/** Versions that are published, deleted or erased. */
export interface ObjectsChange {
  project_id: string
  /** Undefined where versions of any class may have changed. */
  base_object_class: string | null | undefined
  kind: 'published' | 'removed'
}

export type OnChange = (change: ObjectsChange) => void

/** Checks an object of a client that has been published. @returns warnings about what it will not do */
export type Review = (
  published: {
    project_id: string
    object_id: string
    digest: string
    val: JsonText
    base_object_class: string | null
  },
  context: CallContext,
) => Promise<string[]>

/**
 * The same content under the same name makes no new version; a deleted one is restored with its old index. Of a monitor
 * it is noted as published last, and by whom, since the version that a client published last decides whether the
 * monitor runs, and in whose name.
 */
export interface Publisher {
  /** @throws 403 for monitors, and names by which one acts, of a caller who may only add data; 400, 403 for names */
  create(req: wire.ObjCreateReq, context: CallContext): Promise<wire.ObjCreateRes>
  /** One value under many names, as the server itself publishes them. */
  createAll(
    project_id: string,
    published: { names: readonly string[]; val: JsonText; user: string },
  ): Promise<void>
}

export function createPublisher(deps: {
  traces: TraceDb
  projects: Projects
  redaction: Pick<Redaction, 'of'>
  versionsOf: (projectId: string, objectIds: readonly string[]) => Promise<VersionRow[]>
  isMonitored: IsMonitored
  onChange: OnChange
  review: Review
}): Publisher {
  const { traces, projects, redaction, versionsOf, isMonitored, onChange, review } = deps

  async function publish(content: Content, names: readonly string[]): Promise<void> {
    const { project_id, digest, base_object_class, wb_user_id } = content
    await projects.ensureById(project_id)
    const known = await versionsOf(project_id, names)
    const isUnchanged = (version: VersionRow) =>
      version.digest === digest &&
      isLive(version) &&
      (base_object_class !== MONITOR_CLASS ||
        (version.wb_user_id === wb_user_id && isPublishedLast(known, version)))
    const unchanged = new Set(known.filter(isUnchanged).map(keyOf))
    const missing = names.filter((object_id) => !unchanged.has(keyOf({ object_id, digest })))
    if (missing.length === 0) return
    const at = nowAfter(known.flatMap(({ published_at, deleted_at }) => [published_at, deleted_at]))
    const rows = missing.map((object_id) => ({ ...content, object_id, created_at: at, published_at: at }))
    await traces.insert('objects', rows)
    onChange({ project_id, base_object_class, kind: 'published' })
  }

  /** What is stored under the digest of what was sent, which clients have in their refs. */
  async function redacted(project_id: string, val: string): Promise<string> {
    const redactor = await redaction.of(project_id)
    const [text] = (await redactor?.redact([{ form: 'json', text: val, document: 'val' }])) ?? []
    return text ?? val
  }

  /** The server acts on calls of others by monitors, their scorers and what these lead to. @throws 403 */
  async function checkRight(
    {
      project_id,
      object_id,
      base_object_class,
    }: Pick<Content, 'project_id' | 'base_object_class'> & { object_id: string },
    { caller: { rights } }: CallContext,
  ): Promise<void> {
    const place = placeOf(project_id)
    if (rights.allows('write', place)) return
    if (base_object_class === MONITOR_CLASS || (await isMonitored(project_id, object_id)))
      requireRight(rights, 'write', place)
  }

  async function create({ obj }: wire.ObjCreateReq, context: CallContext) {
    checkObjectId(obj.object_id)
    const { project_id, object_id } = obj
    const sent = classified(obj.val, obj.builtin_object_class ?? obj.set_base_object_class)
    await checkRight({ project_id, object_id, base_object_class: sent.base_object_class }, context)
    const digest = await digestOf(sent.val)
    checkExpectedDigest(obj.expected_digest, digest)
    const object = { ...sent, val: await redacted(project_id, sent.val) }
    await publish({ project_id, digest, ...object, wb_user_id: context.caller.user }, [object_id])
    const { base_object_class } = object
    const val = new JsonText(object.val)
    const warnings = await review({ project_id, object_id, digest, val, base_object_class }, context)
    return warnings.length === 0 ? { digest, object_id } : { digest, object_id, warnings }
  }

  async function createAll(
    project_id: string,
    { names, val, user }: { names: readonly string[]; val: JsonText; user: string },
  ): Promise<void> {
    for (const name of names) checkObjectId(name)
    const digest = await digestOf(val.text)
    await publish({ project_id, digest, ...classified(val, undefined), wb_user_id: user }, names)
  }

  return { create, createAll }
}

/** What the versions of several names have in common. */
interface Content extends ObjectClasses {
  project_id: string
  digest: string
  /** JSON text. */
  val: string
  wb_user_id: string
}

/** @throws 400 or 403 for a name that no object can have. */
export function checkObjectId(objectId: string): void {
  if (isLonger(objectId, OBJECT_ID_CHARS_MAX)) {
    throw invalidRequest(`object_id is longer than ${OBJECT_ID_CHARS_MAX} characters`)
  }
  if (!OBJECT_ID.test(objectId)) throw notAllowed(`Invalid object_id: ${objectId}`)
}
