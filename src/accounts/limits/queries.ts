import type { Selectable } from 'kysely'
import type { LimitsTable } from '../../stores/control-db/account-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'

export type LimitsRow = Selectable<LimitsTable>

export function findLimits(control: ControlTx, subject: string): Promise<LimitsRow | undefined> {
  return control.selectFrom('limits').selectAll().where('subject', '=', subject).executeTakeFirst()
}

/** Adds the limits of a subject, or replaces them. */
export async function putLimits(tx: ControlTx, row: LimitsRow): Promise<void> {
  const { subject: _, ...changes } = row
  await tx
    .insertInto('limits')
    .values(row)
    .onConflict((clash) => clash.column('subject').doUpdateSet(changes))
    .execute()
}
