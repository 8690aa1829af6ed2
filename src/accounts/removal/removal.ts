import type { ErasedUser, Removal } from '../../removal.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import { identityText } from '../identity/provider-identity.ts'
import type { Identity } from '../identity/service.ts'
import type { LimitBook } from '../limits/limit-book.ts'
import { findUserByName } from '../user-queries.ts'
import { renameInAudit } from './audit-names.ts'
import * as queries from './removal-queries.ts'

/** Removes accounts, and keys of what is removed. Audit events stay, with a pseudonym for the user. */
export function createAccountsRemoval(deps: {
  control: ControlDb
  identity: Pick<Identity, 'giveOwnEntity'>
  keys: { forget(): void }
  limits: Pick<LimitBook, 'load'>
}): Removal {
  const { control, identity, keys, limits } = deps

  async function forget(): Promise<void> {
    keys.forget()
    await limits.load()
  }

  return {
    async eraseProjects(projectIds) {
      await queries.deleteKeysOfProjects(control, projectIds)
      await forget()
    },

    async freeNames(tx, { entity, user }) {
      if (entity !== undefined) {
        for (const id of await queries.serviceAccountsOf(tx, entity)) await queries.deleteUser(tx, id)
        await queries.deleteEntity(tx, entity)
        // A person who stays cannot sign in with a key, or make one, without an own entity.
        const owner = entity === user?.name ? undefined : await findUserByName(tx, entity)
        if (owner?.kind === 'person') await identity.giveOwnEntity(tx, owner)
      }
      if (user !== undefined) await removeUser(tx, user)
      return forget
    },
  }
}

async function removeUser(tx: ControlTx, user: ErasedUser): Promise<void> {
  const { name, pseudonym } = user
  const row = await findUserByName(tx, name)
  await renameInAudit(tx, name, pseudonym)
  await renameUserIn(tx, { usage_limits: ['updated_by'] }, user)
  if (row === undefined) return
  if (row.email !== null) await renameInAudit(tx, row.email, pseudonym)
  for (const identity of await queries.identitiesOf(tx, row.id))
    await renameInAudit(tx, identityText(identity), pseudonym)
  await queries.deleteUser(tx, row.id)
}
