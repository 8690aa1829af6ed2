import type { Removal } from '../removal.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { deleteRules } from './queries.ts'

/** Removes the rules of projects, and the counts of what they found. */
export function createRedactionRemoval({ control }: { control: ControlDb }): Removal {
  return {
    eraseProjects: (projectIds) => control.transaction().execute((tx) => deleteRules(tx, projectIds)),
  }
}
