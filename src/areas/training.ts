import type { Principals } from '../accounts/callers/principals.ts'
import type { WorkLimits } from '../accounts/limits/work-limits.ts'
import type { Projects } from '../accounts/projects.ts'
import type { BlobOwner } from '../blob-sweep.ts'
import type { Contents } from '../contents/service.ts'
import { messageOf } from '../errors.ts'
import type { Owners } from '../http/access.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import type { Stores } from '../open-stores.ts'
import type { Redaction } from '../redaction/service.ts'
import type { Compute } from '../stores/compute/port.ts'
import { abandonedBefore } from '../stores/control-db/peers.ts'
import { type BaseModels, createBaseModels } from '../training/base-models/service.ts'
import { type CheckpointFiles, createCheckpointFiles } from '../training/checkpoint-files/checkpoint-files.ts'
import { createForking } from '../training/checkpoints/forking.ts'
import { createMerging } from '../training/checkpoints/merging.ts'
import { checkpointsRoutes } from '../training/checkpoints/routes.ts'
import { type Checkpoints, createCheckpoints } from '../training/checkpoints/service.ts'
import { jobsOwner } from '../training/jobs/blob-owner.ts'
import type { JobDefaults } from '../training/jobs/job-config.ts'
import { findTrajectories } from '../training/jobs/job-trajectories.ts'
import { jobsRoutes } from '../training/jobs/routes.ts'
import { createJobs, type Jobs } from '../training/jobs/service.ts'
import { createTrainingQueue } from '../training/jobs/training-queue.ts'
import { createModelRegistry, type ModelRegistry } from '../training/model-registry/service.ts'
import { modelsRoutes } from '../training/models/routes.ts'
import { createModels, type Models } from '../training/models/service.ts'
import { createTrainingRemoval } from '../training/removal.ts'
import { trainingDataRoutes } from '../training/training-data/routes.ts'
import { createTrainingData } from '../training/training-data/service.ts'
import { trajectoriesRoutes } from '../training/trajectories/routes.ts'
import { createTrajectories, LOGGED_TRAJECTORIES_OWNER } from '../training/trajectories/service.ts'
import { createTrajectoryCalls } from '../training/trajectories/trajectory-calls.ts'
import type { Area } from './area.ts'
import type { TraceArea } from './trace.ts'
import type { TrackingArea } from './tracking.ts'

/** The engine, and the model served from the start. */
export interface EngineOptions {
  compute: Compute
  /** Served from the start. */
  baseModel: string
  /** Defaults of jobs. */
  defaults: JobDefaults
}

export interface TrainingDeps {
  stores: Stores
  contents: Contents
  projects: Projects
  jobQueue: JobQueue
  redaction: Pick<Redaction, 'of'>
  workLimits: WorkLimits
  /** What jobs may do when they run. */
  principals: Principals
  log: Log
  engine: EngineOptions
  /** `file://` training data lies below its folder `imports`. */
  dataFolder: string
  trace: Pick<TraceArea, 'calls' | 'feedback' | 'objects' | 'tables'>
  tracking: Pick<TrackingArea, 'artifacts' | 'runs'>
}

/** Models, their checkpoints, and the jobs that train them. */
export interface TrainingArea extends Area {
  /** Whose its things are that requests name by an id alone. */
  owners: Owners
  baseModels: BaseModels
  blobOwners: BlobOwner[]
  checkpointFiles: CheckpointFiles
  checkpoints: Checkpoints
  jobs: Jobs
  models: Models
  registry: ModelRegistry
}

export function createTrainingArea(deps: TrainingDeps): TrainingArea {
  const { stores, contents, projects, jobQueue, redaction, workLimits, log, engine } = deps
  const { principals, dataFolder, trace, tracking } = deps
  const { control, blobs } = stores
  const { compute, baseModel, defaults } = engine
  const { calls, feedback, objects, tables } = trace
  const { artifacts, runs } = tracking
  const files = createCheckpointFiles({ contents, workspace: stores.workspace })
  const registry = createModelRegistry({ control })
  const checkpoints = createCheckpoints({ control, contents, artifacts, files })
  const baseModels = createBaseModels({ control, compute, files })
  const shared = { control, blobs, contents, models: registry, checkpoints, baseModels, files }
  const trainingData = createTrainingData({ control, contents, artifacts, objects, tables, dataFolder })
  const trajectoryCalls = createTrajectoryCalls({
    blobs,
    calls,
    feedback,
    jobQueue,
    log,
    trajectoriesOf: (jobId) => findTrajectories(shared, jobId),
  })
  const queue = createTrainingQueue({ ...shared, jobQueue, principals, peers: stores.peers, runs, log })
  const jobs = createJobs({ ...shared, trainingData, trajectoryCalls, queue, workLimits, defaults })
  const models = createModels({ control, projects, registry, baseModels, checkpoints, jobs, runs })
  const forking = createForking({ ...shared, loraRankMax: baseModels.loraRankMax })
  artifacts.onCommit('lora', forking.fromArtifact)
  return {
    baseModels,
    checkpointFiles: files,
    checkpoints,
    jobs,
    models,
    registry,
    owners: { model: registry.placeOf, 'training job': jobs.placeOf, 'training data': trainingData.placeOf },
    removals: [createTrainingRemoval({ ...shared, jobs, models, trainingData })],
    storedBy: async (entity) => (await trainingData.storedBy(entity)) + (await checkpoints.storedBy(entity)),
    blobOwners: [jobsOwner(control), LOGGED_TRAJECTORIES_OWNER],
    routes: [
      ...modelsRoutes(models),
      ...checkpointsRoutes({ ...shared, forking, merging: createMerging(shared) }),
      ...jobsRoutes(jobs),
      ...trainingDataRoutes(trainingData),
      ...trajectoriesRoutes(createTrajectories({ ...shared, trajectoryCalls, redaction })),
    ],

    /** Prepares the folders of training jobs, and starts the engine without waiting for it. */
    async start() {
      await using starting = new AsyncDisposableStack()
      const before = abandonedBefore(stores.peers)
      await jobs.sweep(before)
      await trainingData.sweep(before)
      await checkpoints.sweep(before)
      await queue.prepare(stores.workspace.isShared && stores.peers.arePossible ? 'may-use' : 'none')
      const warming = new AbortController()
      starting.defer(() => warming.abort(new Error('The server is stopping')))
      baseModels.warmUp(baseModel, warming.signal).catch((error: unknown) => {
        if (!warming.signal.aborted) log.warn({ reason: messageOf(error) }, 'the engine is not ready')
      })
      return starting.move()
    },
  }
}
