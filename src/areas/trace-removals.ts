import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import type { Removal } from '../removal.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { createTableRemoval, type RemovableTable } from '../stores/trace-db/table-removal.ts'
import { createQueuesRemoval } from '../trace/annotation-queues/removal.ts'
import { createCallFeedbackRemoval } from '../trace/calls/removal/feedback.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Files } from '../trace/files/service.ts'
import { createObjectsRemoval } from '../trace/objects/removal/service.ts'
import type { Objects } from '../trace/objects/service.ts'
import { createTablesRemoval } from '../trace/tables/removal.ts'
import { createRemoveUnused } from '../trace/unused-content/service.ts'

/** Tables whose rows go with their project and need no more. */
const PLAIN_TABLES: RemovableTable[] = [
  { table: 'feedback', kind: 'feedback', bytes: 'length(payload)', author: 'wb_user_id' },
  { table: 'costs', kind: 'costs', named: 'created_by' },
  { table: 'object_tags' },
  { table: 'object_aliases' },
  { table: 'annotation_queue_calls' },
  { table: 'leaf_uses' },
]

/**
 * What the trace area removes. Feedback on calls comes first, since it is found by them; then calls and objects: they
 * name tables, and all of these name files.
 */
export function createTraceRemovals(deps: {
  traces: TraceDb
  control: ControlDb
  mutations: Mutations
  jobQueue: JobQueue
  log: Pick<Log, 'warn'>
  calls: Pick<Calls, 'removal'>
  files: Pick<Files, 'removal'>
  objects: Pick<Objects, 'noteErased'>
}): Removal[] {
  const { calls, files } = deps
  const tables = createTablesRemoval(deps)
  const removers = { tables: tables.removeContents, files: files.removal.removeContents }
  const removeUnused = createRemoveUnused({ ...deps, removers })
  calls.removal.removeBy(removeUnused)
  return [
    createCallFeedbackRemoval(deps),
    calls.removal,
    createObjectsRemoval(deps, removeUnused),
    ...tables.removals,
    ...PLAIN_TABLES.map((table) => createTableRemoval(deps, table)),
    createQueuesRemoval(deps),
    files.removal,
  ]
}
