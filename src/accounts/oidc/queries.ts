import type { Selectable } from 'kysely'
import type { UserIdentitiesTable } from '../../stores/control-db/account-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { ProviderIdentity } from '../identity/provider-identity.ts'

type UserIdentityRow = Selectable<UserIdentitiesTable>

/** The id of the user with an identity of a provider. */
export async function findIdentity(
  tx: ControlTx,
  { issuer, subject }: ProviderIdentity,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('user_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.user_id
}

/** Whether a user has an identity of a provider already. */
export async function hasIdentity(tx: ControlTx, userId: string, issuer: string): Promise<boolean> {
  const row = await tx
    .selectFrom('user_identities')
    .select('subject')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertIdentity(tx: ControlTx, row: UserIdentityRow): Promise<void> {
  await tx.insertInto('user_identities').values(row).execute()
}
