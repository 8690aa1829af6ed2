import { sql } from 'kysely'
import { selectIdsOfProjects } from '../stores/control-db/ids-of-projects.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'

export interface DataOfJob {
  id: string
  kind: 'rl' | 'sft'
  data_key: string
  ended_at: string | null
}

/** Ids of all models of some projects. */
export async function modelIdsOf(control: ControlTx, projectIds: readonly string[]): Promise<string[]> {
  return (await selectIdsOfProjects(control, 'models', projectIds).execute()).map(({ id }) => id)
}

/** How many models and jobs some projects have. */
export async function countModels(
  control: ControlDb,
  projectIds: readonly string[],
): Promise<{ models: number; jobs: number }> {
  const ids = selectIdsOfProjects(control, 'models', projectIds)
  const models = await control
    .selectFrom(ids.as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const jobs = await control
    .selectFrom(selectIdsOfProjects(control, 'training_jobs', projectIds).as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { models: models.count, jobs: jobs.count }
}

/** Jobs of some projects, those of deleted models among them. */
export function jobsOf(control: ControlDb, projectIds: readonly string[]): Promise<DataOfJob[]> {
  return selectJobsOf(control, projectIds).execute()
}

function selectJobsOf(control: ControlDb, projectIds: readonly string[]) {
  return control
    .selectFrom('training_jobs')
    .select(['id', 'kind', 'data_key', 'ended_at'])
    .where('id', 'in', selectIdsOfProjects(control, 'training_jobs', projectIds))
}

/** Deletes the row of a job, with its events. */
export async function deleteJob(tx: ControlTx, id: string): Promise<void> {
  await tx.deleteFrom('training_job_events').where('job_id', '=', id).execute()
  await tx.deleteFrom('training_jobs').where('id', '=', id).execute()
}

/** Deletes rows of checkpoints whose model and whose artifact version are both gone. */
export async function deleteLostCheckpoints(control: ControlDb): Promise<void> {
  await control
    .deleteFrom('checkpoints')
    .where('deleted_at', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('models').select('id').whereRef('models.id', '=', 'checkpoints.model_id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('artifact_versions')
            .select('id')
            .whereRef('artifact_versions.id', '=', 'checkpoints.artifact_id'),
        ),
      ),
    )
    .execute()
}

/** Uploads of some projects, or with `entity` those of no project. */
export async function uploadIdsOf(
  control: ControlDb,
  of: { projectIds: readonly string[] } | { entity: string },
): Promise<string[]> {
  let query = control.selectFrom('training_data_uploads').select('id')
  query =
    'entity' in of
      ? query.where('entity', '=', of.entity)
      : query.where(sql<string>`entity || '/' || project`, 'in', of.projectIds)
  return (await query.execute()).map(({ id }) => id)
}

/** Ended jobs of some projects from before a time, with what names their training data. */
export function endedJobsOf(
  control: ControlDb,
  { projectIds, before }: { projectIds: readonly string[]; before: string },
): Promise<DataOfJob[]> {
  return selectJobsOf(control, projectIds).where('ended_at', '<', before).execute()
}
