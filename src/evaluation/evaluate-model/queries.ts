import type { Selectable } from 'kysely'
import type { ControlDb, EvaluationJobsTable } from '../../stores/control-db/tables.ts'

export type EvaluationJob = Selectable<EvaluationJobsTable>

export async function insertJob(control: ControlDb, job: EvaluationJob): Promise<void> {
  await control.insertInto('evaluation_jobs').values(job).execute()
}

/** Oldest first. */
export function openJobs(control: ControlDb): Promise<EvaluationJob[]> {
  return control.selectFrom('evaluation_jobs').selectAll().orderBy('call_id').execute()
}

export async function countJobs(control: ControlDb): Promise<number> {
  const counted = control.selectFrom('evaluation_jobs').select((eb) => eb.fn.countAll<number>().as('count'))
  return (await counted.executeTakeFirst())?.count ?? 0
}

export async function deleteJob(control: ControlDb, callId: string): Promise<void> {
  await control.deleteFrom('evaluation_jobs').where('call_id', '=', callId).execute()
}
