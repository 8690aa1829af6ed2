import { accountsPart } from './accounts/graphql/accounts-part.ts'
import { createGraphql } from './accounts/graphql/service.ts'
import { createProjects, type Projects } from './accounts/projects.ts'
import { createBlobSweep } from './blob-sweep.ts'
import { createContents } from './contents/service.ts'
import { createCuration } from './curation/service.ts'
import { createEvaluation } from './evaluation/create.ts'
import type { ScorerPython } from './evaluation/scorers/scorer-processes.ts'
import { createInference, type InferenceOptions } from './inference/create.ts'
import { createPlayground } from './inference/playground/service.ts'
import { createJobQueue } from './jobs/job-queue.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics/service.ts'
import type { Providers } from './providers.ts'
import type { RemoteScorerOptions } from './scorer-secrets.ts'
import { engineLogsFolder } from './stores/compute/log-folder.ts'
import type { Stores } from './stores/open-stores.ts'
import { countWrites } from './stores/trace-db/counted.ts'
import { createSystem } from './system/service.ts'
import { createAnnotationQueues } from './trace/annotation-queues/service.ts'
import { createCallFields } from './trace/call-fields/service.ts'
import { createCallStats } from './trace/call-stats/service.ts'
import { createCalls } from './trace/calls/service.ts'
import { createCosts } from './trace/costs/service.ts'
import { createEvalResults } from './trace/eval-results/service.ts'
import { createEvaluationRuns } from './trace/evaluation-runs/service.ts'
import { createFeedback } from './trace/feedback/service.ts'
import { createFeedbackStats } from './trace/feedback-stats/service.ts'
import { filesOwner } from './trace/files/blob-owner.ts'
import { createFiles } from './trace/files/service.ts'
import { createObjects } from './trace/objects/service.ts'
import { createOtlp } from './trace/otlp/service.ts'
import { createProject } from './trace/project/service.ts'
import { createRefs } from './trace/refs/service.ts'
import { createRegistry } from './trace/registry/service.ts'
import { createServiceInfo } from './trace/service-info/service.ts'
import { createTables } from './trace/tables/service.ts'
import { createThreads } from './trace/threads/service.ts'
import { createTypedObjects } from './trace/typed-objects/service.ts'
import { createTraceUsage } from './trace/usage/service.ts'
import { artifactsPart } from './tracking/artifacts/artifacts-part.ts'
import { createArtifacts } from './tracking/artifacts/service.ts'
import { filesPart } from './tracking/files-part.ts'
import { runsPart } from './tracking/runs/runs-part.ts'
import { createRuns } from './tracking/runs/service.ts'
import { createSdk } from './tracking/sdk/service.ts'
import { createSignedUrls } from './tracking/signed-urls.ts'
import { createTraining, type EngineOptions } from './training/create.ts'
import { jobsOwner } from './training/jobs/blob-owner.ts'
import { LOGGED_TRAJECTORIES_OWNER } from './training/trajectories/service.ts'
import type { UnexpectedErrors } from './unexpected-errors.ts'

interface ServicesOptions {
  version: string
  log: Log
  engine: EngineOptions
  inference: InferenceOptions
  providers: Providers
  /** The Python that runs scorers which are code; they are refused without one. */
  scorerPython: ScorerPython | undefined
  remoteScorers: RemoteScorerOptions
  dataFolder: string
  /** The workspace folder, in the data folder or elsewhere. */
  engineFolder: string
  /** Uncaught errors of the process. */
  unexpected: UnexpectedErrors
}

/** Wires every service to the stores; `main.ts` and tests share it. */
export function createServices(opened: Stores, options: ServicesOptions) {
  const traces = countWrites(opened.traces)
  const stores = { ...opened, traces }
  const { blobs, control } = stores
  const { log, engine, dataFolder, engineFolder, version, scorerPython, remoteScorers, unexpected } = options
  const projects = createProjects({ control })
  const contents = createContents({ control, blobs })
  // The lock of the data folder keeps other servers away from its control database.
  const jobQueue = createJobQueue({ control, log, otherServers: 'none' })
  const trace = createTrace(stores, projects)
  const { calls, costs, feedback, files, objects, tables } = trace
  const signedUrls = createSignedUrls({ control })
  const artifacts = createArtifacts({ control, contents, projects, signedUrls })
  const runs = createRuns({ control, traces, contents, projects, signedUrls })
  const training = createTraining({
    stores,
    contents,
    projects,
    artifacts,
    runs,
    calls,
    feedback,
    objects,
    tables,
    jobQueue,
    log,
    engine,
    dataFolder,
  })
  const inference = createInference({
    version,
    training,
    engine,
    traces,
    costs,
    calls,
    log,
    options: options.inference,
  })
  const playground = createPlayground({
    chat: inference.chatCompletions,
    resolveModel: inference.servedModels.resolve,
    providers: options.providers,
    calls,
    objects,
    files,
  })
  const blobSweep = createBlobSweep({
    blobs,
    owners: [contents.blobOwner, jobsOwner(control), filesOwner(traces), LOGGED_TRAJECTORIES_OWNER],
    log,
  })
  const graphqlParts = [accountsPart(projects), filesPart, runsPart(runs), artifactsPart(artifacts, runs)]
  return {
    ...trace,
    blobSweep,
    startJobs: jobQueue.start,
    graphql: createGraphql(graphqlParts),
    serviceInfo: createServiceInfo({ projects, version, stores, compute: engine.compute, unexpected }),
    metrics: createMetrics({ ...stores, jobs: training.jobs, unexpected, blobSweep }),
    system: createSystem({
      traces,
      control,
      dataFolder,
      engineFolder,
      logsFolder: engineLogsFolder(dataFolder),
    }),
    project: createProject({ traces, files, projects }),
    runs,
    artifacts,
    sdk: createSdk(),
    ...training,
    ...inference,
    playground,
    curation: createCuration({ ...trace, ...training, control, traces }),
    ...createEvaluation({ ...trace, control, jobQueue, playground, log, scorerPython, remoteScorers }),
  }
}

/** The tracing services, which need none of the others. */
function createTrace({ traces, blobs, control }: Stores, projects: Projects) {
  const objects = createObjects({ traces, projects })
  const tables = createTables({ traces, projects })
  const annotationQueues = createAnnotationQueues({ control, traces, projects })
  const feedback = createFeedback({ traces, projects, objects, annotationQueues })
  const costs = createCosts({ traces, projects })
  const refs = createRefs({ objects, tables })
  const registry = createRegistry({ objects })
  const calls = createCalls({ traces, projects, feedback, costs, refs })
  const files = createFiles({ traces, blobs, projects })
  return {
    calls,
    otlp: createOtlp({ calls, objects, files }),
    traceUsage: createTraceUsage({ calls }),
    callFields: createCallFields({ traces }),
    callStats: createCallStats({ traces, costs }),
    threads: createThreads({ traces }),
    files,
    annotationQueues,
    feedback,
    feedbackStats: createFeedbackStats({ traces }),
    costs,
    objects,
    evaluationRuns: createEvaluationRuns({ calls, feedback, objects, files }),
    evalResults: createEvalResults({ traces, calls, refs, costs }),
    typedObjects: createTypedObjects({ objects, tables, files }),
    refs,
    registry,
    tables,
  }
}
