import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import * as queries from './removal-queries.ts'

/** Who has made, claimed or finished something. */
const NAMING = {
  annotation_queues: ['created_by'],
  annotation_queue_items: ['added_by', 'finished_by', 'claimed_by'],
  annotation_results: ['annotator'],
} as const

/** Removes annotation queues. */
export function createQueuesRemoval({ control }: { control: ControlDb }): Removal {
  return {
    countProjects: async (ids) => [
      { kind: 'annotation_queues', count: await queries.countQueues(control, ids), bytes: 0 },
    ],
    eraseProjects: (ids) => control.transaction().execute((tx) => queries.deleteQueues(tx, ids)),
    renameUser: (user) => renameUserIn(control, NAMING, user),
  }
}
