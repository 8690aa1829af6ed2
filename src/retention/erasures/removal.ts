import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameRequester } from './queries.ts'

/** Receipts stay, without the name of a user who was erased. */
export function createReceiptsRemoval({ control }: { control: ControlDb }): Removal {
  return { renameUser: ({ name, pseudonym }) => renameRequester(control, name, pseudonym) }
}
