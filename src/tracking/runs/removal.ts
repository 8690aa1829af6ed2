import type { Contents } from '../../contents/service.ts'
import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableRemoval } from '../../stores/trace-db/table-removal.ts'
import { deleteRun } from './queries.ts'
import { releaseFiles } from './release-files.ts'
import { runIdsOf, sumRuns } from './removal-queries.ts'

/** Removes runs with their files, alerts, metrics and lines of their logs. */
export function createRunsRemovals(deps: {
  control: ControlDb
  contents: Contents
  traces: TraceDb
  mutations: Mutations
}): Removal[] {
  const { control } = deps

  async function erase(projectIds: readonly string[], signal: AbortSignal): Promise<void> {
    for (const id of await runIdsOf(control, projectIds)) {
      signal.throwIfAborted()
      // The bytes go first: the row names them.
      await releaseFiles(deps, id)
      await control.transaction().execute((tx) => deleteRun(tx, id))
    }
  }

  return [
    {
      async countProjects(projectIds) {
        return [{ kind: 'runs', ...(await sumRuns(control, projectIds)) }]
      },
      eraseProjects: erase,
      renameUser: (user) => renameUserIn(control, { runs: ['created_by'] }, user),
    },
    createTableRemoval(deps, {
      table: 'run_metrics',
      kind: 'run_metrics',
      bytes: "length(key) + 8 + length(ifNull(json, ''))",
      retained: { kind: 'run_metrics', time: 'time' },
    }),
    createTableRemoval(deps, {
      table: 'run_log_lines',
      kind: 'run_log_lines',
      bytes: 'length(text)',
      retained: { kind: 'run_logs', time: 'time' },
    }),
  ]
}
