import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { deleteOfProjects } from './queries.ts'

/** Removes what monitors have noted; they themselves are objects. */
export function createMonitorsRemoval({ control }: { control: ControlDb }): Removal {
  return {
    eraseProjects: (projectIds) => control.transaction().execute((tx) => deleteOfProjects(tx, projectIds)),
  }
}
