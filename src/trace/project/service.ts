import { invalidRequest, notImplemented } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf, type Query, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Files } from '../files/service.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

export type Project = ReturnType<typeof createProject>

/** What a project takes up, and its settings: everything that is sent is stored as it came, and kept. */
export function createProject({ traces, files }: { traces: TraceDb; files: Pick<Files, 'stats'> }) {
  return {
    async stats(req: wire.ProjectStatsReq, { signal }: CallContext): Promise<wire.ProjectStatsRes> {
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
    },

    retention: () => ({ retention_days: null }),

    updateRetention({ retention_days }: wire.RetentionUpdateReq) {
      if (retention_days != null) throw notImplemented('Calls are kept until they are deleted')
      return { retention_days: null }
    },

    sampling: () => ({ sample_rate: 1, dry_run: false }),

    sensitiveData: () => ({ policy: 'off' as const }),
  }
}
