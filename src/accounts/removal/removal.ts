import type { Removal } from '../../removal.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { identityText } from '../identity/provider-identity.ts'
import type { LimitBook } from '../limits/limit-book.ts'
import { findUserByName } from '../user-queries.ts'
import * as queries from './removal-queries.ts'

/** Removes accounts, and keys of what is removed. Audit events stay, with a pseudonym for the user. */
export function createAccountsRemoval(deps: {
  control: ControlDb
  keys: { forget(): void }
  limits: Pick<LimitBook, 'load'>
}): Removal {
  const { control, keys, limits } = deps

  async function forget(): Promise<void> {
    keys.forget()
    await limits.load()
  }

  return {
    async eraseProjects(projectIds) {
      await queries.deleteKeysOfProjects(control, projectIds)
      await forget()
    },

    async eraseEntity(entity) {
      await control.transaction().execute(async (tx) => {
        for (const id of await queries.serviceAccountsOf(tx, entity)) await queries.deleteUser(tx, id)
        await queries.deleteEntity(tx, entity)
      })
      await forget()
    },

    async renameUser({ name, pseudonym }) {
      await control.transaction().execute(async (tx) => {
        const row = await findUserByName(tx, name)
        await queries.replaceInAudit(tx, name, pseudonym)
        if (row === undefined) return
        if (row.email !== null) await queries.replaceInAudit(tx, row.email, pseudonym)
        for (const identity of await queries.identitiesOf(tx, row.id))
          await queries.replaceInAudit(tx, identityText(identity), pseudonym)
        await queries.deleteUser(tx, row.id)
      })
      await forget()
    },
  }
}
