import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import type { Mutations } from '../../stores/trace-db/mutations.ts'
import * as queries from './removal-queries.ts'

/** Who has made, claimed or finished something. */
const NAMING = {
  annotation_queues: ['created_by'],
  annotation_queue_items: ['added_by', 'finished_by', 'claimed_by'],
  annotation_results: ['annotator'],
} as const

/** Deleted queues whose rows go at once. */
const PURGED_AT_ONCE = 1_000

/** Removes annotation queues. */
export function createQueuesRemoval(deps: { control: ControlDb; mutations: Mutations }): Removal {
  const { control, mutations } = deps

  /** A queue goes last: when this ends between the two databases, the next one finds it again. */
  async function purge(before: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const queues = await queries.listDeletedQueues(control, before, PURGED_AT_ONCE)
      if (queues.length === 0) return
      const table = 'annotation_queue_calls'
      await mutations.run(table, [queries.DELETE_QUEUED_CALLS], { queues }, signal)
      await control.transaction().execute((tx) => queries.deleteQueues(tx, queues))
    }
  }

  return {
    countProjects: async (ids) => [
      { kind: 'annotation_queues', count: await queries.countQueues(control, ids), bytes: 0 },
    ],
    eraseProjects: (ids) => control.transaction().execute((tx) => queries.deleteQueuesOf(tx, ids)),
    renameUser: (user) => renameUserIn(control, NAMING, user),
    purge,
  }
}
