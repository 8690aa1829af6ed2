import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'

/** Receipts stay, without the name of a user who was erased. */
export function createReceiptsRemoval({ control }: { control: ControlDb }): Removal {
  return { renameUser: (user) => renameUserIn(control, { erasures: ['requested_by'] }, user) }
}
