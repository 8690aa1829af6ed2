import type { WorkLimits } from '../../accounts/limits/work-limits.ts'
import type { Contents } from '../../contents/service.ts'
import type { Blobs } from '../../stores/blobs/port.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import type { TrainingData } from '../training-data/service.ts'
import type { TrajectoryCalls } from '../trajectories/trajectory-calls.ts'
import type { JobDefaults } from './job-config.ts'
import type { TrainingQueue } from './training-queue.ts'

export interface JobsDeps {
  control: ControlDb
  blobs: Blobs
  contents: Contents
  models: Pick<ModelRegistry, 'existing' | 'placeOf'>
  baseModels: BaseModels
  trainingData: TrainingData
  trajectoryCalls: TrajectoryCalls
  queue: TrainingQueue
  workLimits: WorkLimits
  defaults: JobDefaults
}
