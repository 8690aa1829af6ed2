import { accountsPart } from './accounts/graphql/accounts-part.ts'
import { createGraphql } from './accounts/graphql/service.ts'
import { createProjects } from './accounts/projects.ts'
import { createContents } from './contents.ts'
import { createInference, type InferenceOptions } from './inference/create.ts'
import { createPlayground } from './inference/playground/service.ts'
import type { Log } from './log.ts'
import type { Providers } from './providers.ts'
import type { Stores } from './stores/open-stores.ts'
import { createCallStats } from './trace/call-stats/service.ts'
import { createCalls } from './trace/calls/service.ts'
import { createCosts } from './trace/costs/service.ts'
import { createFeedback } from './trace/feedback/service.ts'
import { createFeedbackStats } from './trace/feedback-stats/service.ts'
import { createFiles } from './trace/files/service.ts'
import { createObjects } from './trace/objects/service.ts'
import { createOtlp } from './trace/otlp/service.ts'
import { createProject } from './trace/project/service.ts'
import { createRefs } from './trace/refs/service.ts'
import { createServiceInfo } from './trace/service-info/service.ts'
import { createTables } from './trace/tables/service.ts'
import { createThreads } from './trace/threads/service.ts'
import { createTraceUsage } from './trace/usage/service.ts'
import { artifactsPart } from './tracking/artifacts/artifacts-part.ts'
import { createArtifacts } from './tracking/artifacts/service.ts'
import { filesPart } from './tracking/files-part.ts'
import { runsPart } from './tracking/runs/runs-part.ts'
import { createRuns } from './tracking/runs/service.ts'
import { createSdk } from './tracking/sdk/service.ts'
import { createSignedUrls } from './tracking/signed-urls.ts'
import { createTraining, type EngineOptions } from './training/create.ts'

/** Wires every service to the stores; `main.ts` and tests share it. */
export function createServices(
  stores: Stores,
  options: {
    version: string
    log: Log
    engine: EngineOptions
    inference: InferenceOptions
    providers: Providers
    dataFolder: string
  },
) {
  const { blobs, control, traces } = stores
  const { log, engine, dataFolder, version } = options
  const projects = createProjects({ control })
  const contents = createContents({ control, blobs })
  const objects = createObjects({ traces, projects })
  const tables = createTables({ traces, projects })
  const feedback = createFeedback({ traces, projects, objects })
  const costs = createCosts({ traces, projects })
  const refs = createRefs({ objects, tables })
  const calls = createCalls({ traces, projects, feedback, costs, refs })
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
    log,
    engine,
    dataFolder,
  })
  const inference = createInference({
    training,
    engine,
    traces,
    costs,
    calls,
    log,
    options: options.inference,
  })
  const files = createFiles({ traces, blobs, projects })
  return {
    calls,
    otlp: createOtlp({ calls, objects, files }),
    traceUsage: createTraceUsage({ calls }),
    callStats: createCallStats({ traces, costs }),
    threads: createThreads({ traces }),
    files,
    feedback,
    feedbackStats: createFeedbackStats({ traces }),
    costs,
    objects,
    refs,
    tables,
    graphql: createGraphql([
      accountsPart(projects),
      filesPart,
      runsPart(runs),
      artifactsPart(artifacts, runs),
    ]),
    serviceInfo: createServiceInfo({ projects, version }),
    project: createProject({ traces, files }),
    runs,
    artifacts,
    sdk: createSdk(),
    ...training,
    ...inference,
    playground: createPlayground({
      chat: inference.chatCompletions,
      resolveModel: inference.servedModels.resolve,
      providers: options.providers,
      calls,
      objects,
      files,
    }),
  }
}
