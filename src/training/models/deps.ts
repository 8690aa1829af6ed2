import type { Projects } from '../../accounts/projects.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Runs } from '../../tracking/runs/service.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { Checkpoints } from '../checkpoints/service.ts'

export interface ModelsDeps {
  control: ControlDb
  projects: Projects
  baseModels: BaseModels
  checkpoints: Checkpoints
  runs: Runs
  /** Ends the open jobs of a model that is about to be deleted, and removes the training data of its jobs. */
  removeJobs: (modelId: string) => Promise<void>
}
