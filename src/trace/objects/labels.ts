import type { Projects } from '../../accounts/projects.ts'
import { notFound } from '../../errors.ts'
import { firstOf, type Query, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowAfter } from '../../time.ts'
import { collectReply } from '../collect-reply.ts'
import * as queries from './label-queries.ts'
import type * as wire from './labels-wire.ts'
import { createVersionReading, isLive, keyOf, type VersionName } from './versions.ts'

/** Tags and aliases of one version, each sorted. */
export interface Labels {
  tags: string[]
  aliases: string[]
}

/**
 * Tags and aliases of versions: any number of tags on each, and aliases that each stand for one version of an object.
 */
export interface Labelling {
  /** By `keyOf` of their versions. */
  labelsOf(projectId: string, objectIds: readonly string[]): Promise<Map<string, Labels>>
  /** Removes the labels of deleted versions. */
  removeLabels(projectId: string, objectId: string, digests: readonly string[]): Promise<void>
  addTags(req: wire.ObjAddTagsReq): Promise<wire.LabelsChangeRes>
  /** Wire: removing an absent label is no error. */
  removeTags(req: wire.ObjRemoveTagsReq): Promise<wire.LabelsChangeRes>
  setAliases(req: wire.ObjSetAliasesReq): Promise<wire.LabelsChangeRes>
  removeAliases(req: wire.ObjRemoveAliasesReq): Promise<wire.LabelsChangeRes>
  /** Wire: `latest` is not stored, so it is never listed. */
  listTags(req: wire.LabelsListReq): Promise<wire.TagsListRes>
  listAliases(req: wire.LabelsListReq): Promise<wire.AliasesListRes>
}

export function createLabels({ traces, projects }: { traces: TraceDb; projects: Projects }): Labelling {
  const { versionsOf } = createVersionReading(traces)

  /** Wire: only a digest names a version here. @throws 404 when the version does not exist or was deleted. */
  async function checkVersion(projectId: string, { object_id, digest }: VersionName): Promise<void> {
    const versions = await versionsOf(projectId, [object_id])
    if (!versions.some((version) => version.digest === digest && isLive(version)))
      throw notFound('Object version', `${object_id}:${digest}`)
  }

  async function change(
    state: 'set' | 'removed',
    version: VersionName & { project_id: string },
    labels: { tags?: readonly string[]; aliases?: readonly string[] },
  ): Promise<void> {
    const { project_id, object_id, digest } = version
    const { tags = [], aliases = [] } = labels
    if (tags.length === 0 && aliases.length === 0) return
    const last = queries.selectLastChange(project_id, object_id)
    const changed_at = nowAfter([(await firstOf(traces.query<{ changed_at: string }>(last)))?.changed_at])
    const row = { project_id, object_id, digest, changed_at, removed: state === 'removed' ? 1 : 0 }
    await traces.insert(
      'object_tags',
      tags.map((tag) => ({ ...row, tag })),
    )
    await traces.insert(
      'object_aliases',
      aliases.map((alias) => ({ ...row, alias })),
    )
  }

  async function labelsOf(projectId: string, objectIds: readonly string[]): Promise<Map<string, Labels>> {
    const rows = traces.query<queries.LabelRow>(queries.selectLabels(projectId, objectIds))
    const found = new Map<string, Labels>()
    for (const row of await collectReply(rows, ({ label }) => label.length)) {
      const labels = found.get(keyOf(row)) ?? { tags: [], aliases: [] }
      labels[row.kind === 'tag' ? 'tags' : 'aliases'].push(row.label)
      found.set(keyOf(row), labels)
    }
    return found
  }

  async function listed(query: Query): Promise<string[]> {
    const rows = await collectReply(traces.query<{ label: string }>(query), ({ label }) => label.length)
    return rows.map(({ label }) => label)
  }

  async function removeLabels(
    projectId: string,
    objectId: string,
    digests: readonly string[],
  ): Promise<void> {
    const labels = await labelsOf(projectId, [objectId])
    for (const digest of digests) {
      const version = { project_id: projectId, object_id: objectId, digest }
      await change('removed', version, labels.get(keyOf(version)) ?? {})
    }
  }

  async function addTags(req: wire.ObjAddTagsReq) {
    await checkVersion(req.project_id, req)
    await change('set', req, { tags: req.tags })
    return {}
  }

  async function removeTags(req: wire.ObjRemoveTagsReq) {
    await projects.ensureById(req.project_id)
    await change('removed', req, { tags: req.tags })
    return {}
  }

  async function setAliases(req: wire.ObjSetAliasesReq) {
    await checkVersion(req.project_id, req)
    await change('set', req, { aliases: req.aliases })
    return {}
  }

  async function removeAliases(req: wire.ObjRemoveAliasesReq) {
    await projects.ensureById(req.project_id)
    await change('removed', { ...req, digest: '' }, { aliases: req.aliases })
    return {}
  }

  return {
    labelsOf,
    removeLabels,
    addTags,
    removeTags,
    setAliases,
    removeAliases,
    listTags: async (req) => ({ tags: await listed(queries.listTags(req.project_id)) }),
    listAliases: async (req) => ({
      aliases: await listed(queries.listAliases(req.project_id)),
    }),
  }
}
