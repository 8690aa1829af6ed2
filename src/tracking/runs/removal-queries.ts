import { sql } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

/** Ids of all runs of some projects. */
export async function runIdsOf(control: ControlTx, projectIds: readonly string[]): Promise<string[]> {
  const rows = await control
    .selectFrom('runs')
    .select('id')
    .where(sql<string>`entity || '/' || project`, 'in', projectIds)
    .execute()
  return rows.map(({ id }) => id)
}

/** Bytes of the files of runs. */
export async function fileBytes(control: ControlDb, runIds: readonly string[]): Promise<number> {
  const row = await control
    .selectFrom('run_files')
    .select((eb) => eb.fn.sum<number | null>('size').as('bytes'))
    .where('run_id', 'in', runIds)
    .executeTakeFirst()
  return row?.bytes ?? 0
}

export async function renameCreator(control: ControlDb, name: string, pseudonym: string): Promise<void> {
  await control.updateTable('runs').set({ created_by: pseudonym }).where('created_by', '=', name).execute()
}
