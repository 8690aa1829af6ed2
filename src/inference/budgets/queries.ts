import type { Selectable } from 'kysely'
import type { BudgetsTable } from '../../stores/control-db/limit-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type BudgetRow = Selectable<BudgetsTable>

/** Budgets of an entity, or of all. */
export function listBudgets(control: ControlDb, entity?: string): Promise<BudgetRow[]> {
  let query = control.selectFrom('budgets').selectAll()
  if (entity !== undefined) query = query.where('entity', '=', entity)
  return query.orderBy('id').execute()
}

/** Puts budgets in the place of those that an entity has. */
export async function replaceBudgets(
  tx: ControlTx,
  entity: string,
  rows: readonly BudgetRow[],
): Promise<void> {
  await tx.deleteFrom('budgets').where('entity', '=', entity).execute()
  for (const row of rows) await tx.insertInto('budgets').values(row).execute()
}
