import type { Removal } from '../../removal.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableRemoval } from '../../stores/trace-db/table-removal.ts'
import { DELETE_ROWS_OF_NONE, DELETE_TABLES } from './removal-queries.ts'

/** Removes tables with those of their rows that no other table has. */
export interface TablesRemoval {
  removals: Removal[]
  removeContents(
    projectId: string,
    digests: readonly string[],
    before: string,
    signal: AbortSignal,
  ): Promise<void>
}

export function createTablesRemoval(deps: { traces: TraceDb; mutations: Mutations }): TablesRemoval {
  const { mutations } = deps
  return {
    removals: [
      createTableRemoval(deps, { table: 'tables', kind: 'tables' }),
      createTableRemoval(deps, { table: 'table_rows', kind: 'table_rows', bytes: 'length(val)' }),
    ],
    async removeContents(project, digests, before, signal) {
      await mutations.run('tables', [DELETE_TABLES], { project, digests, before }, signal)
      await mutations.run('table_rows', [DELETE_ROWS_OF_NONE], { project, before }, signal)
    },
  }
}
