import type { Selectable } from 'kysely'
import type { ApiKeysTable } from '../../stores/control-db/account-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type KeyRow = Selectable<ApiKeysTable>

export async function insertKey(tx: ControlTx, row: KeyRow): Promise<void> {
  await tx.insertInto('api_keys').values(row).execute()
}

export function findKeyByPrefix(control: ControlTx, prefix: string): Promise<KeyRow | undefined> {
  return control.selectFrom('api_keys').selectAll().where('prefix', '=', prefix).executeTakeFirst()
}

export function findKey(control: ControlTx, id: string): Promise<KeyRow | undefined> {
  return control.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Keys of a user that are not revoked, newest first. */
export function listKeys(
  control: ControlDb,
  page: { userId: string; beforeId: string | undefined; limit: number },
): Promise<KeyRow[]> {
  let query = control
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', page.userId)
    .where('revoked_at', 'is', null)
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}

export async function countKeys(control: ControlTx, userId: string): Promise<number> {
  const row = await control
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return row.count
}

export async function updateKey(tx: ControlTx, id: string, changes: Partial<KeyRow>): Promise<void> {
  await tx.updateTable('api_keys').set(changes).where('id', '=', id).execute()
}
