import type { Selectable } from 'kysely'
import type { UsageLimitsTable } from '../../stores/control-db/limit-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type LimitsRow = Selectable<UsageLimitsTable>

export function listLimits(control: ControlDb): Promise<LimitsRow[]> {
  return control.selectFrom('usage_limits').selectAll().execute()
}

export function findLimits(
  db: ControlTx,
  { kind, name }: Pick<LimitsRow, 'kind' | 'name'>,
): Promise<LimitsRow | undefined> {
  return db
    .selectFrom('usage_limits')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst()
}

export async function putLimits(tx: ControlTx, row: LimitsRow): Promise<void> {
  const { kind: _, name: _name, ...changes } = row
  await tx
    .insertInto('usage_limits')
    .values(row)
    .onConflict((clash) => clash.columns(['kind', 'name']).doUpdateSet(changes))
    .execute()
}

export async function deleteLimits(
  tx: ControlTx,
  { kind, name }: Pick<LimitsRow, 'kind' | 'name'>,
): Promise<void> {
  await tx.deleteFrom('usage_limits').where('kind', '=', kind).where('name', '=', name).execute()
}
