import type { Projects } from '../accounts/projects.ts'
import type { Contents } from '../contents/service.ts'
import { messageOf } from '../errors.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import type { Compute } from '../stores/compute/port.ts'
import type { Stores } from '../stores/open-stores.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Feedback } from '../trace/feedback/service.ts'
import type { Objects } from '../trace/objects/service.ts'
import type { Tables } from '../trace/tables/service.ts'
import type { Artifacts } from '../tracking/artifacts/service.ts'
import type { Runs } from '../tracking/runs/service.ts'
import { createBaseModels } from './base-models/service.ts'
import { createCheckpointFiles } from './checkpoints/files.ts'
import { createForking } from './checkpoints/forking.ts'
import { createMerging } from './checkpoints/merging.ts'
import { createCheckpoints } from './checkpoints/service.ts'
import { createHealth } from './health/service.ts'
import type { JobDefaults } from './jobs/job-config.ts'
import { createJobs } from './jobs/service.ts'
import { createTrainingQueue } from './jobs/training-queue.ts'
import { createModels } from './models/service.ts'
import { createTrainingData } from './training-data/service.ts'
import { createTrajectories } from './trajectories/service.ts'
import { createTrajectoryCalls } from './trajectories/trajectory-calls.ts'

/** The engine, and the model served from the start. */
export interface EngineOptions {
  compute: Compute
  /** Served from the start. */
  baseModel: string
  /** Defaults of jobs. */
  defaults: JobDefaults
}

export type Training = ReturnType<typeof createTraining>

export interface TrainingDeps {
  stores: Stores
  contents: Contents
  projects: Projects
  artifacts: Artifacts
  runs: Runs
  calls: Calls
  feedback: Feedback
  objects: Objects
  tables: Tables
  jobQueue: JobQueue
  log: Log
  engine: EngineOptions
  /** `file://` training data lies below its folder `imports`. */
  dataFolder: string
}

/** Wires the training half. */
export function createTraining(deps: TrainingDeps) {
  const { stores, contents, projects, artifacts, runs, log, engine } = deps
  const { control, blobs } = stores
  const { compute } = engine
  const files = createCheckpointFiles({ contents, workspace: stores.workspace })
  const checkpoints = createCheckpoints({ control, contents, artifacts, files })
  const baseModels = createBaseModels({ control, compute, files })
  const models = createModels({
    control,
    projects,
    baseModels,
    checkpoints,
    runs,
    // Jobs need models, so they are created below.
    removeJobs: (modelId) => jobs.removeOfModel(modelId),
  })
  const queue = createTrainingQueue({
    jobQueue: deps.jobQueue,
    control,
    contents,
    models,
    baseModels,
    checkpoints,
    files,
    runs,
    log,
  })
  const trajectoryCalls = createTrajectoryCalls({
    blobs,
    calls: deps.calls,
    feedback: deps.feedback,
    jobQueue: deps.jobQueue,
    log,
    trajectoriesOf: (jobId) => jobs.trajectoriesOf(jobId),
  })
  const { objects, tables, dataFolder } = deps
  const trainingData = createTrainingData({ control, contents, artifacts, objects, tables, dataFolder })
  const jobs = createJobs({
    control,
    blobs,
    contents,
    models,
    baseModels,
    trainingData,
    trajectoryCalls,
    queue,
    defaults: engine.defaults,
  })
  const forking = createForking({
    control,
    contents,
    models,
    checkpoints,
    loraRankMax: baseModels.loraRankMax,
  })
  artifacts.onCommit('lora', forking.fromArtifact)
  return {
    checkpointFiles: files,
    baseModels,
    checkpoints,
    models,
    jobs,
    trainingData,
    forking,
    merging: createMerging({ baseModels, checkpoints, files }),
    trajectories: createTrajectories({ blobs, models, checkpoints, trajectoryCalls }),
    trainingHealth: createHealth({ control, compute, baseModel: engine.baseModel }),

    /** Prepares the folders of training jobs, and starts the engine without waiting for it. */
    async startTraining(): Promise<AsyncDisposable> {
      await using starting = new AsyncDisposableStack()
      await checkpoints.sweep()
      await queue.prepare()
      const warming = new AbortController()
      starting.defer(() => warming.abort(new Error('The server is stopping')))
      baseModels.warmUp(engine.baseModel, warming.signal).catch((error: unknown) => {
        if (!warming.signal.aborted) log.warn({ reason: messageOf(error) }, 'the engine is not ready')
      })
      return starting.move()
    },
  }
}
