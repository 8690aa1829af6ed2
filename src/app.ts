import { graphqlRoutes } from './accounts/graphql/routes.ts'
import type { Graphql } from './accounts/graphql/service.ts'
import { curationRoutes } from './curation/routes.ts'
import type { Curation } from './curation/service.ts'
import { callScoringRoutes } from './evaluation/call-scoring/routes.ts'
import type { CallScoring } from './evaluation/call-scoring/service.ts'
import { evaluateModelRoutes } from './evaluation/evaluate-model/routes.ts'
import type { EvaluateModel } from './evaluation/evaluate-model/service.ts'
import type { Route } from './http/route.ts'
import { chatCompletionsRoutes } from './inference/chat-completions/routes.ts'
import type { ChatCompletions } from './inference/chat-completions/service.ts'
import { completionsRoutes } from './inference/completions/routes.ts'
import type { Completions } from './inference/completions/service.ts'
import { embeddingsRoutes } from './inference/embeddings/routes.ts'
import type { Embeddings } from './inference/embeddings/service.ts'
import { inferenceInformationRoutes } from './inference/information/routes.ts'
import type { InferenceInformation } from './inference/information/service.ts'
import { servedModelsRoutes } from './inference/models/routes.ts'
import type { ServedModels } from './inference/models/served-models.ts'
import { playgroundRoutes } from './inference/playground/routes.ts'
import type { Playground } from './inference/playground/service.ts'
import { tokensRoutes } from './inference/tokens/routes.ts'
import type { Tokens } from './inference/tokens/service.ts'
import { usageRoutes } from './inference/usage/routes.ts'
import type { Usage } from './inference/usage/service.ts'
import { metricsRoutes } from './metrics/routes.ts'
import type { Metrics } from './metrics/service.ts'
import { systemRoutes } from './system/routes.ts'
import type { System } from './system/service.ts'
import { annotationQueuesRoutes } from './trace/annotation-queues/routes.ts'
import type { AnnotationQueues } from './trace/annotation-queues/service.ts'
import { callFieldsRoutes } from './trace/call-fields/routes.ts'
import type { CallFields } from './trace/call-fields/service.ts'
import { callStatsRoutes } from './trace/call-stats/routes.ts'
import type { CallStats } from './trace/call-stats/service.ts'
import { callsRoutes } from './trace/calls/routes.ts'
import type { Calls } from './trace/calls/service.ts'
import { costsRoutes } from './trace/costs/routes.ts'
import type { Costs } from './trace/costs/service.ts'
import { evalResultsRoutes } from './trace/eval-results/routes.ts'
import type { EvalResults } from './trace/eval-results/service.ts'
import { evaluationRunsRoutes } from './trace/evaluation-runs/routes.ts'
import type { EvaluationRuns } from './trace/evaluation-runs/service.ts'
import { feedbackRoutes } from './trace/feedback/routes.ts'
import type { Feedback } from './trace/feedback/service.ts'
import { feedbackStatsRoutes } from './trace/feedback-stats/routes.ts'
import type { FeedbackStats } from './trace/feedback-stats/service.ts'
import { filesRoutes } from './trace/files/routes.ts'
import type { Files } from './trace/files/service.ts'
import { objectsRoutes } from './trace/objects/routes.ts'
import type { Objects } from './trace/objects/service.ts'
import { otlpRoutes } from './trace/otlp/routes.ts'
import type { Otlp } from './trace/otlp/service.ts'
import { projectRoutes } from './trace/project/routes.ts'
import type { Project } from './trace/project/service.ts'
import { refsRoutes } from './trace/refs/routes.ts'
import type { Refs } from './trace/refs/service.ts'
import { registryRoutes } from './trace/registry/routes.ts'
import type { Registry } from './trace/registry/service.ts'
import { serviceInfoRoutes } from './trace/service-info/routes.ts'
import type { ServiceInfo } from './trace/service-info/service.ts'
import { tablesRoutes } from './trace/tables/routes.ts'
import type { Tables } from './trace/tables/service.ts'
import { threadsRoutes } from './trace/threads/routes.ts'
import type { Threads } from './trace/threads/service.ts'
import { typedObjectsRoutes } from './trace/typed-objects/routes.ts'
import type { TypedObjects } from './trace/typed-objects/service.ts'
import { unsupportedRoutes } from './trace/unsupported/routes.ts'
import { traceUsageRoutes } from './trace/usage/routes.ts'
import type { TraceUsage } from './trace/usage/service.ts'
import { artifactsRoutes } from './tracking/artifacts/routes.ts'
import type { Artifacts } from './tracking/artifacts/service.ts'
import { runsRoutes } from './tracking/runs/routes.ts'
import type { Runs } from './tracking/runs/service.ts'
import { sdkRoutes } from './tracking/sdk/routes.ts'
import type { Sdk } from './tracking/sdk/service.ts'
import type { Forking } from './training/checkpoints/forking.ts'
import type { Merging } from './training/checkpoints/merging.ts'
import { checkpointsRoutes } from './training/checkpoints/routes.ts'
import type { Checkpoints } from './training/checkpoints/service.ts'
import { healthRoutes } from './training/health/routes.ts'
import type { Health } from './training/health/service.ts'
import { jobsRoutes } from './training/jobs/routes.ts'
import type { Jobs } from './training/jobs/service.ts'
import { modelsRoutes } from './training/models/routes.ts'
import type { Models } from './training/models/service.ts'
import { trainingDataRoutes } from './training/training-data/routes.ts'
import type { TrainingData } from './training/training-data/service.ts'
import { trajectoriesRoutes } from './training/trajectories/routes.ts'
import type { Trajectories } from './training/trajectories/service.ts'

/** Every service that answers requests. */
export interface Services {
  calls: Calls
  otlp: Otlp
  traceUsage: TraceUsage
  callFields: CallFields
  callStats: CallStats
  threads: Threads
  files: Files
  tables: Tables
  refs: Refs
  registry: Registry
  objects: Objects
  typedObjects: TypedObjects
  evaluationRuns: EvaluationRuns
  evalResults: EvalResults
  annotationQueues: AnnotationQueues
  feedback: Feedback
  feedbackStats: FeedbackStats
  costs: Costs
  graphql: Graphql
  serviceInfo: ServiceInfo
  metrics: Metrics
  system: System
  project: Project
  runs: Runs
  artifacts: Artifacts
  sdk: Sdk
  models: Models
  checkpoints: Checkpoints
  forking: Forking
  merging: Merging
  trainingData: TrainingData
  trajectories: Trajectories
  jobs: Jobs
  trainingHealth: Health
  chatCompletions: ChatCompletions
  completions: Completions
  embeddings: Embeddings
  tokens: Tokens
  servedModels: ServedModels
  usage: Usage
  inferenceInformation: InferenceInformation
  playground: Playground
  evaluateModel: EvaluateModel
  callScoring: CallScoring
  curation: Curation
}

/** The API at a glance: one line a resource. */
export function routesOf(services: Services): Route[] {
  return [
    ...callsRoutes(services.calls),
    ...otlpRoutes(services.otlp),
    ...traceUsageRoutes(services.traceUsage),
    ...callFieldsRoutes(services.callFields),
    ...callStatsRoutes(services.callStats),
    ...threadsRoutes(services.threads),
    ...filesRoutes(services.files),
    ...tablesRoutes(services.tables),
    ...refsRoutes(services.refs),
    ...registryRoutes(services.registry),
    ...objectsRoutes(services.objects),
    ...typedObjectsRoutes(services.typedObjects),
    ...evaluationRunsRoutes(services.evaluationRuns),
    ...evalResultsRoutes(services.evalResults),
    ...annotationQueuesRoutes(services.annotationQueues),
    ...feedbackRoutes(services.feedback),
    ...feedbackStatsRoutes(services.feedbackStats),
    ...costsRoutes(services.costs),
    ...graphqlRoutes(services.graphql),
    ...serviceInfoRoutes(services.serviceInfo),
    ...metricsRoutes(services.metrics),
    ...systemRoutes(services.system),
    ...projectRoutes(services.project),
    ...unsupportedRoutes(),
    ...runsRoutes(services.runs),
    ...artifactsRoutes(services.artifacts),
    ...sdkRoutes(services.sdk),
    ...modelsRoutes(services.models),
    ...checkpointsRoutes(services),
    ...jobsRoutes(services.jobs),
    ...trainingDataRoutes(services.trainingData),
    ...trajectoriesRoutes(services.trajectories),
    ...healthRoutes(services.trainingHealth),
    ...chatCompletionsRoutes(services.chatCompletions),
    ...completionsRoutes(services.completions),
    ...embeddingsRoutes(services.embeddings),
    ...tokensRoutes(services.tokens),
    ...servedModelsRoutes(services.servedModels),
    ...usageRoutes(services.usage),
    ...inferenceInformationRoutes(services.inferenceInformation),
    ...playgroundRoutes(services.playground),
    ...evaluateModelRoutes(services.evaluateModel),
    ...callScoringRoutes(services.callScoring),
    ...curationRoutes(services.curation),
  ]
}
