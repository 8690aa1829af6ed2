import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import type { TrajectorySource } from '../trajectories/group-calls.ts'
import type { JobTrajectories } from '../trajectories/trajectory-calls.ts'
import type { JobRow } from './queries.ts'
import { findJob } from './queries.ts'

export interface JobTrajectoriesDeps {
  control: ControlDb
  models: Pick<ModelRegistry, 'byId'>
  blobs: Blobs
}

/** Finds the trajectories of a job; undefined where they, or the job, or its model, are gone. */
export async function findTrajectories(
  { control, models, blobs }: JobTrajectoriesDeps,
  jobId: string,
): Promise<JobTrajectories | undefined> {
  const job = await findJob(control, jobId)
  if (job === undefined) return undefined
  const { data_key: key } = job
  const [model, blob] = await Promise.all([models.byId(job.model_id), blobs.stat(key)])
  return model === undefined || blob === undefined ? undefined : { key, source: sourceOf(job, model) }
}

function sourceOf(
  job: JobRow,
  model: { id: string; entity: string; project: string; name: string },
): TrajectorySource {
  return {
    id: job.id,
    project_id: `${model.entity}/${model.project}`,
    attributes: { model_id: model.id, model: model.name, job_id: job.id },
    split: 'train',
    at: job.created_at,
  }
}
