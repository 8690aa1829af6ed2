import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { type ContentTable, selectCandidates, selectNamed } from './queries.ts'

/** ClickHouse searches for at most 255 texts at once. */
const SEARCHED_AT_ONCE = 200

/** Removes contents of one kind by their digests, those alone that were sent before a time. */
export type RemoveContents = (
  projectId: string,
  digests: readonly string[],
  before: string,
  signal: AbortSignal,
) => Promise<void>

/** Removes files and tables that nothing names any more, after calls or objects that named them were removed. */
export interface UnusedContent {
  /**
   * Looks through some projects. What was sent after `before` stays, since what names it may not have come yet. A
   * project that is too large to be searched in the time of a query is left, with a line in the log.
   */
  remove(projectIds: readonly string[], before: string, signal: AbortSignal): Promise<void>
}

export function createUnusedContent(deps: {
  traces: TraceDb
  log: Pick<Log, 'warn'>
  removers: Record<ContentTable, RemoveContents>
}): UnusedContent {
  const { traces, log, removers } = deps

  async function unusedOf(table: ContentTable, projectId: string, before: string): Promise<string[]> {
    const rows = await rowsOf(traces.query<{ digest: string }>(selectCandidates(table, projectId, before)))
    const unused = new Set(rows.map(({ digest }) => digest))
    const candidates = [...unused]
    for (let from = 0; from < candidates.length; from += SEARCHED_AT_ONCE) {
      const query = selectNamed(projectId, candidates.slice(from, from + SEARCHED_AT_ONCE))
      for (const { digest } of await rowsOf(traces.query<{ digest: string }>(query))) unused.delete(digest)
    }
    return [...unused]
  }

  async function removeOf(projectId: string, before: string, signal: AbortSignal): Promise<void> {
    // Rows of tables name files.
    for (const table of ['tables', 'files'] as const) {
      const unused = await unusedOf(table, projectId, before)
      if (unused.length > 0) await removers[table](projectId, unused, before, signal)
    }
  }

  return {
    async remove(projectIds, before, signal) {
      for (const projectId of new Set(projectIds)) {
        signal.throwIfAborted()
        await removeOf(projectId, before, signal).catch((error: unknown) => {
          if (signal.aborted) throw error
          log.warn({ project: projectId, reason: messageOf(error) }, 'unused files could not be looked for')
        })
      }
    },
  }
}
