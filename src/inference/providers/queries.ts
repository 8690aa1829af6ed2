import type { Selectable } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { ProvidersTable } from '../../stores/control-db/tables.ts'

export type ProviderRow = Selectable<ProvidersTable>

export function listProviders(control: ControlDb, entity: string): Promise<ProviderRow[]> {
  return control.selectFrom('providers').selectAll().where('entity', '=', entity).orderBy('name').execute()
}

export function findProvider(
  control: ControlTx,
  { entity, name }: { entity: string; name: string },
): Promise<ProviderRow | undefined> {
  return control
    .selectFrom('providers')
    .selectAll()
    .where('entity', '=', entity)
    .where('name', '=', name)
    .executeTakeFirst()
}

/** Adds a provider, or replaces the one of its name. */
export async function putProvider(tx: ControlTx, row: ProviderRow): Promise<void> {
  const { entity: _, name: _name, ...changes } = row
  await tx
    .insertInto('providers')
    .values(row)
    .onConflict((clash) => clash.columns(['entity', 'name']).doUpdateSet(changes))
    .execute()
}

/** Whether there was such a provider. */
export async function deleteProvider(
  tx: ControlTx,
  { entity, name }: { entity: string; name: string },
): Promise<boolean> {
  const gone = await tx
    .deleteFrom('providers')
    .where('entity', '=', entity)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst()
  return gone !== undefined
}

export async function deleteProviders(tx: ControlTx, entity: string): Promise<void> {
  await tx.deleteFrom('providers').where('entity', '=', entity).execute()
}
