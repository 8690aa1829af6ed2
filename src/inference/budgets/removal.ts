import { type Place, placeOf } from '../../access.ts'
import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import type { AccountBook } from './account-book.ts'
import { deleteBudgets } from './queries.ts'

/** Removes the budgets of projects and entities. */
export function createBudgetsRemoval(deps: {
  control: ControlDb
  accountBook: Pick<AccountBook, 'load'>
}): Removal {
  const { control, accountBook } = deps

  async function remove(place: Place): Promise<void> {
    await deleteBudgets(control, place)
    await accountBook.load(place.entity)
  }

  return {
    async eraseProjects(projectIds) {
      for (const id of projectIds) await remove(placeOf(id))
    },
    eraseEntity: (entity) => remove({ entity }),
    renameUser: (user) => renameUserIn(control, { budgets: ['created_by'] }, user),
  }
}
