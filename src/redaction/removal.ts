import type { Removal } from '../removal.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { deleteRules } from './queries.ts'
import type { Redaction } from './service.ts'

/** Removes the rules of projects, and the counts of what they found. */
export function createRedactionRemoval({
  control,
  redaction,
}: {
  control: ControlDb
  redaction: Pick<Redaction, 'forget'>
}): Removal {
  return {
    async eraseProjects(projectIds) {
      await control.transaction().execute((tx) => deleteRules(tx, projectIds))
      for (const projectId of projectIds) redaction.forget(projectId)
    },
  }
}
