import type { Projects } from '../accounts/projects.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Compute } from '../stores/compute/port.ts'
import type { Stores } from '../stores/open-stores.ts'
import { createBaseModels } from './base-models/service.ts'
import { createCheckpointFiles } from './checkpoints/files.ts'
import { createCheckpoints } from './checkpoints/service.ts'
import { createHealth } from './health/service.ts'
import { createJobRunner } from './jobs/runner.ts'
import { createJobs } from './jobs/service.ts'
import { createModels } from './models/service.ts'

/** What computes, and for which model from the start. */
export interface EngineOptions {
  compute: Compute
  /** Served from the start. */
  baseModel: string
  /** A folder of this machine that the engine may read and write; nothing in it needs to last. */
  folder: string
}

export type Training = ReturnType<typeof createTraining>

export interface TrainingDeps {
  stores: Stores
  projects: Projects
  log: Log
  engine: EngineOptions
}

/** Wires the training half. */
export function createTraining({ stores, projects, log, engine }: TrainingDeps) {
  const { control, blobs } = stores
  const { compute } = engine
  const files = createCheckpointFiles({ blobs, folder: engine.folder })
  const checkpoints = createCheckpoints({ control, files })
  const baseModels = createBaseModels({ control, compute, files })
  const runner = createJobRunner({ control, blobs, baseModels, checkpoints, files, log })
  const models = createModels({
    control,
    projects,
    baseModels,
    checkpoints,
    cancelJobs: runner.cancelOfModel,
  })
  return {
    checkpointFiles: files,
    baseModels,
    checkpoints,
    models,
    jobs: createJobs({ control, blobs, models, baseModels, runner }),
    trainingHealth: createHealth({ control, compute }),

    /** Starts the engine and takes up open jobs; nobody waits for the engine. */
    async startTraining(): Promise<AsyncDisposable> {
      const running = await runner.start()
      baseModels.warmUp(engine.baseModel).catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the engine is not ready')
      })
      return running
    },
  }
}
