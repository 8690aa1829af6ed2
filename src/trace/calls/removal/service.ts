import type { Removal } from '../../../removal.ts'
import type { Mutations } from '../../../stores/trace-db/mutations.ts'
import { firstOf, type Query, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { nowIso } from '../../../time.ts'
import type { RecentCalls } from '../recent/recent-calls.ts'
import { CALL_ROWS } from '../sql/table.ts'
import * as queries from './queries.ts'

/**
 * Days for which the mark of a deleted call stays after its content is gone. Parts of it may come as late as its client
 * retries, or runs; later ones make a call again.
 */
const MARK_DAYS = 30

const DAY_MS = 86_400_000

/** Calls of a user that are marked as deleted at once. */
const MARKED_AT_ONCE = 10_000

/** Removes calls for good. */
export interface CallsRemoval extends Removal {
  /** Sets the one function that is called with the projects of which deleted calls were removed. */
  afterPurge(
    then: (projectIds: readonly string[], before: string, signal: AbortSignal) => Promise<void>,
  ): void
}

export function createCallsRemoval(deps: {
  traces: TraceDb
  mutations: Mutations
  recent: Pick<RecentCalls, 'insert' | 'forget'>
}): CallsRemoval {
  const { traces, mutations, recent } = deps
  let then: Parameters<CallsRemoval['afterPurge']>[0] = async () => undefined

  async function amount(query: Query): Promise<{ count: number; bytes: number }> {
    const row = await firstOf(traces.query<{ count: number; bytes?: number }>(query))
    return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 }
  }

  async function isAny(query: Query): Promise<boolean> {
    return (await amount(query)).count > 0
  }

  const change = ({ commands, params }: queries.Change, signal: AbortSignal): Promise<void> =>
    mutations.run(CALL_ROWS, commands, params, signal)

  async function purge(before: string, signal: AbortSignal): Promise<void> {
    const marksBefore = startOfDay(Date.now() - MARK_DAYS * DAY_MS)
    if (await isAny(queries.countDeleted(before))) {
      const rows = await rowsOf(traces.query<{ project_id: string }>(queries.selectProjectsOfDeleted()))
      const columns = await rowsOf(traces.query<queries.ColumnRow>(queries.selectColumns()))
      await change(queries.emptyDeleted(columns), signal)
      await then(
        rows.map(({ project_id }) => project_id),
        before,
        signal,
      )
    }
    if (await isAny(queries.countOldMarks(marksBefore)))
      await change(queries.deleteOldMarks(marksBefore), signal)
  }

  async function markCallsOf(user: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const query = queries.selectCallsOfUser(user, MARKED_AT_ONCE)
      const calls = await rowsOf(traces.query<{ project_id: string; id: string }>(query))
      if (calls.length === 0) return
      const deleted_at = nowIso()
      await recent.insert(calls.map((call) => ({ ...call, deleted_at })))
    }
  }

  return {
    countProjects: async (ids) => [{ kind: 'calls', ...(await amount(queries.countOfProjects(ids))) }],

    async eraseProjects(ids, signal) {
      recent.forget(ids)
      await change(queries.deleteProjects(ids), signal)
      recent.forget(ids)
    },

    countUser: async ({ name }, besides) => [
      { kind: 'calls', ...(await amount(queries.countOfUser(name, besides))) },
    ],

    hideUser: ({ name }, signal) => markCallsOf(name, signal),
    eraseUser: (_user, signal) => purge(nowIso(), signal),

    expire: {
      async payloads(limits, signal) {
        if (!(await isAny(queries.countOldPayloads(limits)))) return
        await change(queries.emptyOldPayloads(limits), signal)
        recent.forget(limits.flatMap(({ projectIds }) => projectIds))
      },

      async calls(limits, signal) {
        if (!(await isAny(queries.countOldCalls(limits)))) return
        await change(queries.deletePartsOfOldCalls(limits), signal)
        await change(queries.deleteOldCalls(limits), signal)
        for (const { projectIds, before } of limits) {
          recent.forget(projectIds)
          await then(projectIds, before, signal)
        }
      },
    },

    purge,

    afterPurge(next) {
      then = next
    },
  }
}

/** ISO 8601. Whole days: what is new every hour would rewrite the table every hour. */
function startOfDay(ms: number): string {
  return new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString()
}
