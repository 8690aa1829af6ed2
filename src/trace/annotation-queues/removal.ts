import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import * as queries from './removal-queries.ts'

/** Removes annotation queues. */
export function createQueuesRemoval({ control }: { control: ControlDb }): Removal {
  return {
    countProjects: async (ids) => [
      { kind: 'annotation_queues', count: await queries.countQueues(control, ids), bytes: 0 },
    ],
    eraseProjects: (ids) => control.transaction().execute((tx) => queries.deleteQueues(tx, ids)),
    renameUser: ({ name, pseudonym }) =>
      control.transaction().execute((tx) => queries.renameAnnotator(tx, name, pseudonym)),
  }
}
