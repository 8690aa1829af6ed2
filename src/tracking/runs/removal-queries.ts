import { sql } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

/** Ids of all runs of some projects. */
export async function runIdsOf(control: ControlTx, projectIds: readonly string[]): Promise<string[]> {
  return (await selectRunIds(control, projectIds).execute()).map(({ id }) => id)
}

/** How many runs some projects have, and the bytes of their files. */
export async function sumRuns(
  control: ControlDb,
  projectIds: readonly string[],
): Promise<{ count: number; bytes: number }> {
  const ids = selectRunIds(control, projectIds)
  const counted = await control
    .selectFrom(ids.as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  const summed = await control
    .selectFrom('run_files')
    .select((eb) => eb.fn.sum<number | null>('size').as('bytes'))
    .where('run_id', 'in', ids)
    .executeTakeFirst()
  return { count: counted?.count ?? 0, bytes: summed?.bytes ?? 0 }
}

export async function renameCreator(control: ControlDb, name: string, pseudonym: string): Promise<void> {
  await control.updateTable('runs').set({ created_by: pseudonym }).where('created_by', '=', name).execute()
}

/** Part of other statements: projects may have more runs than a statement takes values. */
function selectRunIds(control: ControlTx, projectIds: readonly string[]) {
  return control
    .selectFrom('runs')
    .select('id')
    .where(sql<string>`entity || '/' || project`, 'in', projectIds)
}
