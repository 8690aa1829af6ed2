import type { Selectable } from 'kysely'
import type { IdentityProvidersTable } from '../../stores/control-db/account-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'

export type IdentityProviderRow = Selectable<IdentityProvidersTable>

/** Those of an entity with the names of their service accounts, in their order. */
export function listOf(control: ControlTx, entity: string) {
  return control
    .selectFrom('identity_providers')
    .innerJoin('users', 'users.id', 'identity_providers.user_id')
    .selectAll('identity_providers')
    .select('users.name as service_account')
    .where('entity', '=', entity)
    .orderBy('position')
    .execute()
}

/** Those of an issuer for any of the audiences, in their order. */
export function listForToken(
  control: ControlTx,
  { issuer, audiences }: { issuer: string; audiences: readonly string[] },
): Promise<IdentityProviderRow[]> {
  return control
    .selectFrom('identity_providers')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('audience', 'in', audiences)
    .orderBy('position')
    .execute()
}

export function findProvider(control: ControlTx, id: string): Promise<IdentityProviderRow | undefined> {
  return control.selectFrom('identity_providers').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function replaceAllOf(
  tx: ControlTx,
  entity: string,
  rows: readonly IdentityProviderRow[],
): Promise<void> {
  await tx.deleteFrom('identity_providers').where('entity', '=', entity).execute()
  if (rows.length > 0) await tx.insertInto('identity_providers').values(rows).execute()
}
