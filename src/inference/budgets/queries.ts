import type { Selectable } from 'kysely'
import type { Place } from '../../access.ts'
import type { BudgetsTable } from '../../stores/control-db/limit-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type BudgetRow = Selectable<BudgetsTable>

/** Budgets of an entity, or of all. */
export function listBudgets(control: ControlTx, entity?: string): Promise<BudgetRow[]> {
  let query = control.selectFrom('budgets').selectAll()
  if (entity !== undefined) query = query.where('entity', '=', entity)
  return query.orderBy('id').execute()
}

/**
 * Puts budgets in the place of those that an entity has: of its projects and keys, and those of its own if `ofEntity`.
 */
export async function replaceBudgets(
  tx: ControlTx,
  entity: string,
  rows: readonly BudgetRow[],
  { ofEntity }: { ofEntity: boolean },
): Promise<void> {
  let replaced = tx.deleteFrom('budgets').where('entity', '=', entity)
  if (!ofEntity)
    replaced = replaced.where((eb) => eb.or([eb('project', 'is not', null), eb('key_id', 'is not', null)]))
  await replaced.execute()
  for (const row of rows) await tx.insertInto('budgets').values(row).execute()
}

/** Deletes the budgets of an entity, or of one of its projects. */
export async function deleteBudgets(control: ControlDb, { entity, project }: Place): Promise<void> {
  let query = control.deleteFrom('budgets').where('entity', '=', entity)
  if (project !== undefined) query = query.where('project', '=', project)
  await query.execute()
}
