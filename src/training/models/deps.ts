import type { Projects } from '../../accounts/projects.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Runs } from '../../tracking/runs/service.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { Checkpoints } from '../checkpoints/service.ts'
import type { Jobs } from '../jobs/service.ts'
import type { ModelRegistry } from '../model-registry/service.ts'

export interface ModelsDeps {
  control: ControlDb
  projects: Projects
  registry: ModelRegistry
  baseModels: BaseModels
  checkpoints: Checkpoints
  jobs: Pick<Jobs, 'removeOfModel'>
  runs: Pick<Runs, 'delete'>
}
