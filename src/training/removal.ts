import type { Cutoff, Removal } from '../removal.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { renameUserIn } from '../stores/control-db/rename-user.ts'
import type { Checkpoints } from './checkpoints/service.ts'
import type { Jobs } from './jobs/service.ts'
import type { Models } from './models/service.ts'
import * as queries from './removal-queries.ts'
import type { TrainingData } from './training-data/service.ts'

export interface TrainingRemovalDeps {
  control: ControlDb
  jobs: Pick<Jobs, 'remove' | 'releaseData'>
  models: Pick<Models, 'delete'>
  checkpoints: Pick<Checkpoints, 'sweep'>
  trainingData: Pick<TrainingData, 'delete'>
}

/** Who has made something. */
const NAMING = {
  models: ['created_by'],
  training_jobs: ['created_by'],
  training_data_uploads: ['created_by'],
} as const

/** Removes models with their jobs, checkpoints and training data. */
export function createTrainingRemoval(deps: TrainingRemovalDeps): Removal {
  const { control, jobs, models, checkpoints, trainingData } = deps

  /** Those of models that were deleted earlier too. */
  async function eraseJobs(projectIds: readonly string[], signal: AbortSignal): Promise<void> {
    for (const job of await queries.jobsOf(control, projectIds)) {
      signal.throwIfAborted()
      await jobs.remove(job)
      await control.transaction().execute((tx) => queries.deleteJob(tx, job.id))
    }
  }

  async function eraseUploads(of: Parameters<typeof queries.uploadIdsOf>[1]): Promise<void> {
    for (const id of await queries.uploadIdsOf(control, of))
      await trainingData.delete({ training_data_id: id })
  }

  async function expireData(cutoffs: readonly Cutoff[], signal: AbortSignal): Promise<void> {
    for (const cutoff of cutoffs)
      for (const job of await queries.endedJobsOf(control, cutoff)) {
        signal.throwIfAborted()
        await jobs.releaseData(job)
      }
  }

  return {
    async countProjects(projectIds) {
      const counts = await queries.countModels(control, projectIds)
      const uploads = await queries.uploadIdsOf(control, { projectIds })
      return [
        { kind: 'models', count: counts.models, bytes: 0 },
        { kind: 'training_jobs', count: counts.jobs, bytes: 0 },
        { kind: 'training_data', count: uploads.length, bytes: 0 },
      ]
    },

    async eraseProjects(projectIds, signal) {
      await eraseJobs(projectIds, signal)
      for (const id of await queries.modelIdsOf(control, projectIds)) {
        signal.throwIfAborted()
        await models.delete({ model_id: id })
      }
      await queries.deleteLostCheckpoints(control)
      await eraseUploads({ projectIds })
    },

    eraseEntity: (entity) => eraseUploads({ entity }),

    renameUser: (user) => renameUserIn(control, NAMING, user),

    expire: { trajectories: expireData },

    /** What a deletion of checkpoints had still to release when it failed. */
    purge: (before) => checkpoints.sweep(Date.parse(before)),
  }
}
