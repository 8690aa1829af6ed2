import type { Cutoff, Removal } from '../../../removal.ts'
import { changeByKeys } from '../../../stores/trace-db/keyed-changes.ts'
import type { Mutations } from '../../../stores/trace-db/mutations.ts'
import { firstOf, type Query, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { dayBefore, LATER, nowIso } from '../../../time.ts'
import { namedByNow, type RemoveUnused } from '../../unused-content/service.ts'
import type { RecentCalls } from '../recent/recent-calls.ts'
import { CALL_ROWS } from '../sql/table.ts'
import * as queries from './queries.ts'

/**
 * Days for which the mark of a deleted call stays after its content is gone. Parts of it may come as late as its client
 * retries, or runs; later ones make a call again.
 */
const MARK_DAYS = 30

/** Calls of a user that are marked as deleted at once. */
const MARKED_AT_ONCE = 10_000

/** Removes calls for good. */
export interface CallsRemoval extends Removal {
  /** Sets what removes calls with the files and tables that they alone named; until then the calls go alone. */
  removeBy(removeUnused: RemoveUnused): void
}

export function createCallsRemoval(deps: {
  traces: TraceDb
  mutations: Mutations
  recent: Pick<RecentCalls, 'insert' | 'forget'>
}): CallsRemoval {
  const { traces, mutations, recent } = deps
  let removeUnused: RemoveUnused = (change) => change()

  async function amount(query: Query): Promise<{ count: number; bytes: number }> {
    const row = await firstOf(traces.query<{ count: number; bytes?: number }>(query))
    return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 }
  }

  async function isAny(query: Query): Promise<boolean> {
    return (await amount(query)).count > 0
  }

  async function projectsOf(query: Query): Promise<string[]> {
    const rows = await rowsOf(traces.query<{ project_id: string }>(query))
    return rows.map(({ project_id }) => project_id)
  }

  const change = ({ commands, params }: queries.Change, signal: AbortSignal): Promise<void> =>
    mutations.run(CALL_ROWS, commands, params, signal)

  /** Forgets calls in memory also after a change that failed, which the database goes on with. */
  async function forgetting(
    cutoffs: readonly Pick<Cutoff, 'projectIds'>[],
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work()
    } finally {
      recent.forget(cutoffs.flatMap(({ projectIds }) => projectIds))
    }
  }

  /** @param sentBefore of files and tables: what names them has come */
  async function purge(before: string, signal: AbortSignal, sentBefore = before): Promise<void> {
    const marksBefore = dayBefore(MARK_DAYS)
    if (await isAny(queries.countDeleted(before))) {
      const projectIds = await projectsOf(queries.selectProjectsOfDeleted())
      const columns = await rowsOf(traces.query<queries.ColumnRow>(queries.selectColumns()))
      const empty = async () => {
        const marked = (calls: readonly queries.DeletedKey[]) => change(queries.mark(calls), signal)
        await changeByKeys(traces, queries.selectUnmarked(), marked, signal)
        await change(queries.emptyDeleted(columns), signal)
      }
      await removeUnused(empty, [{ projectIds, before: sentBefore, youngerLater: true }], signal)
    }
    // Without its mark, a part that comes late makes a call again, which memory would still take for deleted.
    const projectIds = await projectsOf(queries.selectProjectsOfOldMarks(marksBefore))
    if (projectIds.length > 0)
      await forgetting([{ projectIds }], () => change(queries.deleteOldMarks(marksBefore), signal))
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
      await forgetting([{ projectIds: ids }], () => change(queries.deleteProjects(ids), signal))
    },

    countUser: async ({ name }, besides) => [
      { kind: 'calls', ...(await amount(queries.countOfUser(name, besides))) },
    ],

    hideUser: ({ name }, signal) => markCallsOf(name, signal),
    eraseUser: (_user, signal) => purge(LATER, signal, namedByNow()),

    expire: {
      async payloads(cutoffs, signal) {
        if (!(await isAny(queries.countOldPayloads(cutoffs)))) return
        await forgetting(cutoffs, () => change(queries.emptyOldPayloads(cutoffs), signal))
      },

      async calls(cutoffs, signal) {
        const concerned = new Set(await projectsOf(queries.selectProjectsOfOldCalls(cutoffs)))
        if (concerned.size === 0) return
        const remove = () =>
          forgetting(cutoffs, async () => {
            const removed = (calls: readonly queries.CallKey[]) => change(queries.deleteParts(calls), signal)
            await changeByKeys(traces, queries.selectPartsOfOldCalls(cutoffs), removed, signal)
            await change(queries.deleteOldCalls(cutoffs), signal)
          })
        const projects = cutoffs.map(({ projectIds, before }) => ({
          projectIds: projectIds.filter((id) => concerned.has(id)),
          before,
        }))
        await removeUnused(remove, projects, signal)
      },
    },

    purge,

    removeBy(next) {
      removeUnused = next
    },
  }
}
