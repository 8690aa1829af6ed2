import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, notImplemented } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf, type Query, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Files } from '../files/service.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** What an overview shows of the past. */
const ACTIVITY_HOURS = 24

/** Projects of one overview; the newest are shown. */
const PROJECTS_MAX = 1000

/** The storage and settings of a project: everything that is sent is stored unchanged, and kept. */
export interface Project {
  /** Projects that the caller may read, the most recently used first. */
  activity(req: unknown, context: CallContext): Promise<wire.ActivityRes>
  stats(req: wire.ProjectStatsReq, context: CallContext): Promise<wire.ProjectStatsRes>
  /** Bytes that all projects of an entity store. */
  storedBy(entity: string): Promise<number>
  retention(): wire.RetentionRes
  updateRetention(req: wire.RetentionUpdateReq): wire.RetentionRes
  sampling(): wire.SamplingRes
  sensitiveData(): wire.SensitiveDataRes
}

export function createProject(deps: {
  traces: TraceDb
  files: Pick<Files, 'stats'>
  projects: Projects
}): Project {
  const { traces, files, projects } = deps

  async function activity(_req: unknown, { caller, signal }: CallContext): Promise<wire.ActivityRes> {
    const { rights } = caller
    const newest = (await projects.newest(PROJECTS_MAX, rights.entities)).filter(({ entity, name }) =>
      rights.allows('read', { entity, project: name }),
    )
    const counted = traces.query<queries.ActivityRow>(queries.selectActivity(ACTIVITY_HOURS), signal)
    const byProject = Map.groupBy(await rowsOf(counted), (row) => row.project_id)
    const shown = newest.map(({ entity, name, created_at }) => ({
      entity,
      project: name,
      created_at,
      ...activityOf(byProject.get(`${entity}/${name}`) ?? []),
    }))
    return { projects: shown.toSorted((a, b) => (usedAt(a) < usedAt(b) ? 1 : -1)) }
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

  async function storedBy(entity: string): Promise<number> {
    let total = 0
    for (const query of queries.sumOfEntity(entity))
      total += (await firstOf(traces.query<{ bytes: number }>(query)))?.bytes ?? 0
    return total
  }

  function updateRetention({ retention_days }: wire.RetentionUpdateReq) {
    if (retention_days != null) throw notImplemented('Calls are kept until they are deleted')
    return { retention_days: null }
  }

  return {
    activity,
    stats,
    storedBy,
    retention: () => ({ retention_days: null }),
    updateRetention,
    sampling: () => ({ sample_rate: 1, dry_run: false }),
    sensitiveData: () => ({ policy: 'off' as const }),
  }
}

function activityOf(
  rows: readonly queries.ActivityRow[],
): Omit<wire.ProjectActivity, 'entity' | 'project' | 'created_at'> {
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
