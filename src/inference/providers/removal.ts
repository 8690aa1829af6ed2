import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import { deleteProviders } from './queries.ts'

/** Removes the providers of entities, with their keys. */
export function createProvidersRemoval({ control }: { control: ControlDb }): Removal {
  return {
    eraseEntity: (entity) => deleteProviders(control, entity),
    renameUser: (user) => renameUserIn(control, { providers: ['updated_by'] }, user),
  }
}
