import type { Projects } from '../accounts/projects.ts'
import type { Contents } from '../contents.ts'
import { messageOf } from '../errors.ts'
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
import { createJobRunner } from './jobs/runner.ts'
import { createJobs } from './jobs/service.ts'
import { createModels } from './models/service.ts'
import { createTrainingData } from './training-data/service.ts'
import { createTrajectories } from './trajectories/service.ts'
import { createTrajectoryCalls } from './trajectories/trajectory-calls.ts'

/** What computes, and for which model from the start. */
export interface EngineOptions {
  compute: Compute
  /** Served from the start. */
  baseModel: string
  /** A folder of this machine that the engine may read and write; only the state of open jobs in it needs to last. */
  folder: string
  /** What jobs do that do not say. */
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
  const files = createCheckpointFiles({ contents, folder: engine.folder })
  const checkpoints = createCheckpoints({ control, contents, artifacts, files })
  const baseModels = createBaseModels({ control, compute, files })
  const models = createModels({
    control,
    projects,
    baseModels,
    checkpoints,
    runs,
    // Jobs know their models, so they are made below.
    removeJobs: (modelId) => jobs.removeOfModel(modelId),
  })
  const runner = createJobRunner({
    control,
    blobs,
    contents,
    models,
    baseModels,
    checkpoints,
    files,
    runs,
    log,
  })
  const trajectoryCalls = createTrajectoryCalls({
    calls: deps.calls,
    feedback: deps.feedback,
    log,
    untraced: () => jobs.untraced(),
    setTraced: (jobId) => jobs.setTraced(jobId),
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
    runner,
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

    /** Starts the engine and takes up open jobs; nobody waits for the engine. */
    async startTraining(): Promise<AsyncDisposable> {
      await using starting = new AsyncDisposableStack()
      await checkpoints.sweep()
      starting.use(await runner.start())
      starting.use(trajectoryCalls.start())
      const warming = new AbortController()
      starting.defer(() => warming.abort(new Error('The server is stopping')))
      baseModels.warmUp(engine.baseModel, warming.signal).catch((error: unknown) => {
        if (!warming.signal.aborted) log.warn({ reason: messageOf(error) }, 'the engine is not ready')
      })
      return starting.move()
    },
  }
}
