import type { Removal } from '../../removal.ts'
import { changeByKeys, type Key } from '../../stores/trace-db/keyed-changes.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableRemoval } from '../../stores/trace-db/table-removal.ts'
import { LATER } from '../../time.ts'
import { DELETE_TABLES, ROWS_TO_DELETE, type SentTables, selectRowsOfNone } from './removal-queries.ts'

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
  const { traces, mutations } = deps

  async function removeRows(tables: SentTables, signal: AbortSignal): Promise<void> {
    const { project, before } = tables
    const mark = (rows: readonly Key<'digest'>[]): Promise<void> => {
      const digests = rows.map(({ digest }) => digest)
      return mutations.markDeleted('table_rows', ROWS_TO_DELETE, { project, before, digests }, signal)
    }
    await changeByKeys(traces, selectRowsOfNone(tables), mark, signal)
    await mutations.applyDeletions('table_rows', LATER, signal)
  }

  return {
    removals: [
      createTableRemoval(deps, { table: 'tables', kind: 'tables' }),
      createTableRemoval(deps, { table: 'table_rows', kind: 'table_rows', bytes: 'length(val)' }),
    ],
    async removeContents(project, digests, before, signal) {
      // The tables go last: they are found again, and with them their rows, where this is interrupted.
      await removeRows({ project, digests, before }, signal)
      await mutations.run('tables', [DELETE_TABLES], { project, digests, before }, signal)
    },
  }
}
