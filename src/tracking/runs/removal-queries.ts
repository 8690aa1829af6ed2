import { selectIdsOfProjects } from '../../stores/control-db/ids-of-projects.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

/** Ids of all runs of some projects. */
export async function runIdsOf(control: ControlTx, projectIds: readonly string[]): Promise<string[]> {
  return (await selectIdsOfProjects(control, 'runs', projectIds).execute()).map(({ id }) => id)
}

/** How many runs some projects have, and the bytes of their files. */
export async function sumRuns(
  control: ControlDb,
  projectIds: readonly string[],
): Promise<{ count: number; bytes: number }> {
  const ids = selectIdsOfProjects(control, 'runs', projectIds)
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
