import type { Removal } from '../../../removal.ts'
import { changeByKeys } from '../../../stores/trace-db/keyed-changes.ts'
import type { Mutations } from '../../../stores/trace-db/mutations.ts'
import { firstOf, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { createTableRemoval } from '../../../stores/trace-db/table-removal.ts'
import { LATER, nowAfter } from '../../../time.ts'
import { namedByNow, type RemoveUnused } from '../../unused-content/service.ts'
import type { Objects } from '../service.ts'
import * as queries from './queries.ts'

/** Versions that are marked as deleted at once. */
const MARKED_AT_ONCE = 1_000

/** Removes objects for good: of deleted versions, and of those that a user published, all but the name. */
export function createObjectsRemoval(
  deps: { traces: TraceDb; mutations: Mutations; objects: Pick<Objects, 'noteErased'> },
  removeUnused: RemoveUnused,
): Removal {
  const { traces, mutations, objects } = deps
  const rows = createTableRemoval(deps, {
    table: 'objects',
    kind: 'objects',
    bytes: "length(ifNull(val, ''))",
    author: 'wb_user_id',
  })

  /** @param sentBefore of files and tables: what names them has come */
  async function purge(before: string, signal: AbortSignal, sentBefore = before): Promise<void> {
    const found = await firstOf(traces.query<{ count: number }>(queries.countDeleted(before)))
    if (found === undefined || found.count === 0) return
    const projects = await rowsOf(traces.query<{ project_id: string }>(queries.selectProjectsOfDeleted()))
    const projectIds = projects.map(({ project_id }) => project_id)
    const emptied = ({ command, params }: ReturnType<typeof queries.emptyDeleted>) =>
      mutations.run('objects', [command], params, signal)
    const empty = () =>
      changeByKeys<queries.PublishedKey>(
        traces,
        queries.selectDeleted(),
        (versions) => emptied(queries.emptyDeleted(versions)),
        signal,
      )
    await removeUnused(empty, [{ projectIds, before: sentBefore, youngerLater: true }], signal)
  }

  return {
    ...rows,

    async eraseProjects(projectIds, signal) {
      await rows.eraseProjects?.(projectIds, signal)
      objects.noteErased(projectIds)
    },

    async hideUser({ name }, signal) {
      for (;;) {
        signal.throwIfAborted()
        const query = queries.selectLiveOfUser(name, MARKED_AT_ONCE)
        const live = await rowsOf(traces.query<queries.PublishedRow>(query))
        if (live.length === 0) return
        const deleted_at = nowAfter(live.map(({ created_at }) => created_at))
        await traces.insert(
          'objects',
          live.map((version) => ({ ...version, published_at: version.created_at, deleted_at })),
        )
        objects.noteErased(new Set(live.map(({ project_id }) => project_id)))
      }
    },

    eraseUser: (_user, signal) => purge(LATER, signal, namedByNow()),
    purge,
  }
}
