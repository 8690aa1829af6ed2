import { placeOf, type Rights } from '../../access.ts'
import type { MadeProject } from '../../accounts/project-name.ts'
import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Redaction } from '../../redaction/service.ts'
import { firstOf, type Query, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Files } from '../files/service.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** What an overview shows of the past. */
const ACTIVITY_HOURS = 24

/** Projects of one overview, which a page draws and asks for again and again; those used last are shown. */
const PROJECTS_MAX = 1000

/** How long a project keeps its calls, in days; null without end. */
export interface CallRetention {
  callDays(projectId: string): Promise<number | null>
  setCallDays(projectId: string, days: number | null, context: CallContext): Promise<void>
}

/** The storage and settings of a project: everything that is sent is stored, as its redaction leaves it. */
export interface Project {
  /** Projects that the caller may read, the most recently used first. */
  activity(req: wire.ActivityReq, context: CallContext): Promise<wire.ActivityRes>
  stats(req: wire.ProjectStatsReq, context: CallContext): Promise<wire.ProjectStatsRes>
  retention(req: wire.ProjectReq): Promise<wire.RetentionRes>
  /** Wire: null, or no number, keeps calls without end. */
  updateRetention(req: wire.RetentionUpdateReq, context: CallContext): Promise<wire.RetentionRes>
  /** Bytes that all projects of an entity store. */
  storedBy(entity: string): Promise<number>
  sampling(): wire.SamplingRes
  /** Wire: there is one policy, or none; here, any rule is one. */
  sensitiveData(req: wire.ProjectReq): Promise<wire.SensitiveDataRes>
}

export function createProject(deps: {
  traces: TraceDb
  files: Pick<Files, 'stats'>
  projects: Projects
  redaction: Pick<Redaction, 'of'>
  retention: CallRetention
}): Project {
  const { traces, files, projects, redaction, retention } = deps

  async function activity(
    { find }: wire.ActivityReq,
    { caller: { rights }, signal }: CallContext,
  ): Promise<wire.ActivityRes> {
    const selection = { entities: readableEntities(rights), project: rights.project, find }
    const newest = await projects.newest(PROJECTS_MAX + 1, selection)
    if (newest.length === 0) return { projects: [], has_more: false }
    const counted = traces.query<queries.ActivityRow>(queries.selectActivity(ACTIVITY_HOURS, find), signal)
    const byProject = new Map(
      Map.groupBy(await rowsOf(counted), (row) => row.project_id)
        .entries()
        .map(([id, rows]) => [id, activityOf(rows)]),
    )
    const has_more = newest.length > PROJECTS_MAX
    const listed = has_more ? await usedLast(byProject, newest, rights) : newest
    const shown = listed.map(({ entity, name, created_at }) => ({
      entity,
      project: name,
      created_at,
      ...(byProject.get(`${entity}/${name}`) ?? activityOf([])),
    }))
    return { projects: shown.toSorted((a, b) => (usedAt(a) < usedAt(b) ? 1 : -1)), has_more }
  }

  /** Of more projects than are shown, those with the newest calls, and the newest where these are too few. */
  async function usedLast(
    activities: ReadonlyMap<string, Activity>,
    newest: readonly MadeProject[],
    rights: Rights,
  ): Promise<MadeProject[]> {
    const used = [...activities]
      .filter(([id, { last_call_at }]) => last_call_at !== null && rights.allows('read', placeOf(id)))
      .toSorted(([, a], [, b]) => ((a.last_call_at ?? '') < (b.last_call_at ?? '') ? 1 : -1))
      .map(([id]) => id)
      .slice(0, PROJECTS_MAX)
    const isUsed = new Set(used)
    const others = newest.filter(({ entity, name }) => !isUsed.has(`${entity}/${name}`))
    return [...(await projects.made(used)), ...others].slice(0, PROJECTS_MAX)
  }

  async function stats(req: wire.ProjectStatsReq, { signal }: CallContext): Promise<wire.ProjectStatsRes> {
    const { project_id } = req
    const wanted = {
      calls: req.include_trace_storage_size ?? true,
      objects: req.include_object_storage_size ?? true,
      tables: req.include_table_storage_size ?? true,
      files: req.include_file_storage_size ?? true,
    }
    if (!Object.values(wanted).includes(true)) throw invalidRequest('At least one size must be asked for')
    const sum = async (query: Query): Promise<number> =>
      (await firstOf(traces.query<{ bytes: number }>(query, signal)))?.bytes ?? 0
    return {
      trace_storage_size_bytes: wanted.calls ? await sum(queries.sumCalls(project_id)) : 0,
      objects_storage_size_bytes: wanted.objects ? await sum(queries.sumObjects(project_id)) : 0,
      tables_storage_size_bytes: wanted.tables ? await sum(queries.sumTableRows(project_id)) : 0,
      files_storage_size_bytes: wanted.files ? (await files.stats({ project_id })).total_size_bytes : 0,
    }
  }

  async function updateRetention(req: wire.RetentionUpdateReq, context: CallContext) {
    const days = req.retention_days ?? null
    await retention.setCallDays(req.project_id, days, context)
    return { retention_days: days }
  }

  async function sensitiveData({ project_id }: wire.ProjectReq): Promise<wire.SensitiveDataRes> {
    return { policy: (await redaction.of(project_id)) === undefined ? 'off' : 'pii-v1' }
  }

  async function storedBy(entity: string): Promise<number> {
    let total = 0
    for (const query of queries.sumOfEntity(entity)) {
      const found = await firstOf(traces.query<{ bytes: number }>(query))
      total += found?.bytes ?? 0
    }
    return total
  }

  return {
    activity,
    stats,
    retention: async ({ project_id }) => ({ retention_days: await retention.callDays(project_id) }),
    storedBy,
    updateRetention,
    sampling: () => ({ sample_rate: 1, dry_run: false }),
    sensitiveData,
  }
}

/** The entities of whose projects a caller may read all, or its only one. */
function readableEntities({ entities, project, allows }: Rights): Rights['entities'] {
  return entities === 'all' ? entities : entities.filter((entity) => allows('read', { entity, project }))
}

type Activity = Omit<wire.ProjectActivity, 'entity' | 'project' | 'created_at'>

function activityOf(rows: readonly queries.ActivityRow[]): Activity {
  const calls_by_hour = Array.from({ length: ACTIVITY_HOURS }, () => 0)
  let failed = 0
  let last_call_at: string | null = null
  for (const row of rows) {
    if (row.calls > 0 && (last_call_at === null || row.last_call_at > last_call_at))
      last_call_at = row.last_call_at
    // A clock that is ahead dates calls in the future; they count for this hour.
    const at = ACTIVITY_HOURS - 1 - Math.max(row.hour, 0)
    if (at < 0) continue
    calls_by_hour[at] = (calls_by_hour[at] ?? 0) + row.calls
    failed += row.failed
  }
  return { calls_by_hour, failed, last_call_at }
}

function usedAt({ last_call_at, created_at }: wire.ProjectActivity): string {
  return last_call_at ?? created_at
}
