import type { Cutoff, Removal, RetainedKind } from '../../removal.ts'
import { LATER } from '../../time.ts'
import type { Mutations } from './mutations.ts'
import { firstOf, type Query, type TraceDb } from './port.ts'

/** A table of the trace database whose rows belong to projects. Its texts are SQL of the code, never of a client. */
export interface RemovableTable {
  table: string
  /** What its rows are in receipts; absent where they only accompany others. */
  kind?: string
  /** Bytes of a row. */
  bytes?: string
  /** The id of the project; `project_id` where absent. */
  project?: string
  /** Who wrote a row, which is erased with its author. */
  author?: string
  /** A column with a user's name, in rows that stay. */
  named?: string
  /** Rows that a project may keep for a time, and the column with their time. */
  retained?: { kind: RetainedKind; time: string }
}

/** Removes rows of one table. */
export function createTableRemoval(
  { traces, mutations }: { traces: Pick<TraceDb, 'query' | 'command'>; mutations: Mutations },
  declared: RemovableTable,
): Removal {
  const { table, kind, author, named, retained } = declared
  const { project = 'project_id', bytes = '0' } = declared
  const inProjects = `${project} IN {projects:Array(String)}`
  const byAuthor = `${author} = {user:String}`

  async function sum(where: string, params: Query['params']) {
    const sql = `SELECT count() AS count, sum(${bytes}) AS bytes FROM ${table} WHERE ${where}`
    const row = await firstOf(traces.query<{ count: number; bytes: number }>({ sql, params }))
    return { count: row?.count ?? 0, bytes: row?.bytes ?? 0 }
  }

  async function remove(where: string, params: Query['params'], signal: AbortSignal): Promise<void> {
    if ((await sum(where, params)).count > 0)
      await mutations.run(table, [`DELETE WHERE ${where}`], params, signal)
  }

  async function expire(cutoffs: readonly Cutoff[], time: string, signal: AbortSignal): Promise<void> {
    for (const { projectIds, before } of cutoffs) {
      const where = `${inProjects} AND ${time} < parseDateTime64BestEffort({before:String}, 6, 'UTC')`
      await remove(where, { projects: projectIds, before }, signal)
    }
  }

  return {
    async countProjects(projects) {
      return kind === undefined ? [] : [{ kind, ...(await sum(inProjects, { projects })) }]
    },

    async eraseProjects(projects, signal) {
      // Rows that were only marked as deleted are no longer counted, and are on the disk.
      await mutations.applyDeletions(table, LATER, signal)
      await remove(inProjects, { projects }, signal)
    },

    ...(author !== undefined && {
      countUser: async ({ name }, besides) =>
        kind === undefined
          ? []
          : [
              {
                kind,
                ...(await sum(`${byAuthor} AND NOT ${inProjects}`, { user: name, projects: besides })),
              },
            ],
      hideUser: ({ name }) =>
        traces.command({ sql: `DELETE FROM ${table} WHERE ${byAuthor}`, params: { user: name } }),
      eraseUser: (_user, signal) => mutations.applyDeletions(table, LATER, signal),
    }),

    ...(named !== undefined && {
      async renameUser({ name, pseudonym }, signal) {
        const where = `${named} = {user:String}`
        if ((await sum(where, { user: name })).count === 0) return
        const commands = [`UPDATE ${named} = {pseudonym:String} WHERE ${where}`]
        await mutations.run(table, commands, { user: name, pseudonym }, signal)
      },
    }),

    ...(retained !== undefined && {
      expire: {
        [retained.kind]: (cutoffs: readonly Cutoff[], signal: AbortSignal) =>
          expire(cutoffs, retained.time, signal),
      },
    }),

    purge: (before, signal) => mutations.applyDeletions(table, before, signal),
  }
}
