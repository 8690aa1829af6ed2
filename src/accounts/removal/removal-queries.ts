import { sql } from 'kysely'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { ProviderIdentity } from '../identity/provider-identity.ts'

/** Deletes the keys that are limited to one of the projects. */
export async function deleteKeysOfProjects(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  const keys = await tx.selectFrom('api_keys').select('id').where('project_id', 'in', projectIds).execute()
  await deleteKeys(tx, keys)
}

/** Deletes keys with their limits. */
async function deleteKeys(tx: ControlTx, keys: readonly { id: string }[]): Promise<void> {
  const ids = keys.map(({ id }) => id)
  await tx.deleteFrom('usage_limits').where('kind', '=', 'key').where('name', 'in', ids).execute()
  await tx.deleteFrom('api_keys').where('id', 'in', ids).execute()
}

/** Service accounts of an entity that belong to no other. */
export async function serviceAccountsOf(tx: ControlTx, entity: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('users')
    .innerJoin('memberships', 'memberships.user_id', 'users.id')
    .select('users.id')
    .where('users.kind', '=', 'service')
    .groupBy('users.id')
    .having((eb) => eb.fn.countAll(), '=', 1)
    .having((eb) => eb.fn.max('memberships.entity'), '=', entity)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Deletes an entity with its memberships, limits and identity providers. Requests of its members that name none are
 * about a person's own entity again, and about another team of a service account, as when a member is removed.
 */
export async function deleteEntity(tx: ControlTx, entity: string): Promise<void> {
  await tx.deleteFrom('memberships').where('entity', '=', entity).execute()
  await tx
    .updateTable('users')
    .set((eb) => ({
      default_entity: eb.fn.coalesce(
        eb
          .selectFrom('memberships')
          .select((of) => of.fn.min('entity').as('entity'))
          .whereRef('memberships.user_id', '=', 'users.id')
          .where('users.kind', '=', 'service'),
        'users.name',
      ),
    }))
    .where('default_entity', '=', entity)
    .execute()
  await tx.deleteFrom('usage_limits').where('kind', '=', 'entity').where('name', '=', entity).execute()
  await tx.deleteFrom('identity_providers').where('entity', '=', entity).execute()
  await tx.deleteFrom('entities').where('name', '=', entity).execute()
}

/** Who a user is at sign-in providers. */
export function identitiesOf(tx: ControlTx, userId: string): Promise<ProviderIdentity[]> {
  return tx
    .selectFrom('user_identities')
    .select(['issuer', 'subject'])
    .where('user_id', '=', userId)
    .execute()
}

/** Tables whose rows go with the user whom they name. */
const OF_USER = ['sessions', 'sign_in_links', 'memberships', 'user_identities', 'identity_providers'] as const

/** Deletes a user with all that signs the user in, and memberships. */
export async function deleteUser(tx: ControlTx, id: string): Promise<void> {
  const keys = await tx.selectFrom('api_keys').select('id').where('user_id', '=', id).execute()
  await deleteKeys(tx, keys)
  for (const table of OF_USER) await tx.deleteFrom(table).where('user_id', '=', id).execute()
  await tx.deleteFrom('users').where('id', '=', id).execute()
}

/** Audit events whose details have a text as a value, or as a name, one page. */
export function eventsWith(
  tx: ControlTx,
  text: string,
  page: { afterId: string; limit: number },
): Promise<{ id: string; details: string }[]> {
  return tx
    .selectFrom('audit_events')
    .select(['id', 'details'])
    .where('id', '>', page.afterId)
    .where(sql<string>`replace(details, ${JSON.stringify(text)}, '')`, '<>', (eb) => eb.ref('details'))
    .orderBy('id')
    .limit(page.limit)
    .execute()
}

export async function updateDetails(tx: ControlTx, id: string, details: string): Promise<void> {
  await tx.updateTable('audit_events').set({ details }).where('id', '=', id).execute()
}
