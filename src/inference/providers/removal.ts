import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { deleteProviders, renameUpdater } from './queries.ts'

/** Removes the providers of entities, with their keys. */
export function createProvidersRemoval({ control }: { control: ControlDb }): Removal {
  return {
    eraseEntity: (entity) => deleteProviders(control, entity),
    renameUser: ({ name, pseudonym }) => renameUpdater(control, name, pseudonym),
  }
}
