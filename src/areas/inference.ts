import type { Audit } from '../accounts/audit/service.ts'
import type { StoredLimits } from '../accounts/limits/service.ts'
import type { Limits } from '../config.ts'
import { budgetsRoutes } from '../inference/budgets/routes.ts'
import { createBudgets } from '../inference/budgets/service.ts'
import { chatCompletionsRoutes } from '../inference/chat-completions/routes.ts'
import { createChatCompletions } from '../inference/chat-completions/service.ts'
import { completionsRoutes } from '../inference/completions/routes.ts'
import { createCompletions } from '../inference/completions/service.ts'
import { embeddingsRoutes } from '../inference/embeddings/routes.ts'
import { createEmbeddings } from '../inference/embeddings/service.ts'
import { createAdmission } from '../inference/gateway/admission.ts'
import { createLoadedAdapters } from '../inference/gateway/loaded-adapters.ts'
import { createProjectOf } from '../inference/gateway/project-header.ts'
import { createGateway } from '../inference/gateway/service.ts'
import { inferenceInformationRoutes } from '../inference/information/routes.ts'
import { createInferenceInformation } from '../inference/information/service.ts'
import { playgroundRoutes } from '../inference/playground/routes.ts'
import { createPlayground, type Playground } from '../inference/playground/service.ts'
import { createProvidersRemoval } from '../inference/providers/removal.ts'
import { providersRoutes } from '../inference/providers/routes.ts'
import { createProviderRegistry } from '../inference/providers/service.ts'
import { servedModelsRoutes } from '../inference/served-models/routes.ts'
import { createServedModels } from '../inference/served-models/service.ts'
import { tokensRoutes } from '../inference/tokens/routes.ts'
import { createTokens } from '../inference/tokens/service.ts'
import { createTracing, untraced } from '../inference/tracing/tracing.ts'
import { createUsageCounter } from '../inference/usage/counter.ts'
import { createUsageRemoval } from '../inference/usage/removal.ts'
import { usageRoutes } from '../inference/usage/routes.ts'
import { createUsage } from '../inference/usage/service.ts'
import type { Log } from '../log.ts'
import { createPublicFetch } from '../outbound-http.ts'
import type { Providers } from '../providers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import type { Area } from './area.ts'
import type { TraceArea } from './trace.ts'
import type { EngineOptions, TrainingArea } from './training.ts'

/** Settings of an operator for completions. */
export interface InferenceOptions {
  keyLimits: Limits
  projectLimits: Limits
  /** Headers that may name the project of a request, the first one that does counts; lower case. */
  projectHeaders: readonly string[]
  /** Whether every chat completion of a project becomes a call of it. */
  traceCompletions: boolean
}

export interface InferenceDeps {
  version: string
  traces: TraceDb
  mutations: Mutations
  log: Log
  engine: EngineOptions
  options: InferenceOptions
  /** Configured by the operator, for all teams. */
  providers: Providers
  /** Hosts of providers of teams that need not have a public address. */
  outboundHosts: readonly string[]
  control: ControlDb
  secretKey: SecretKey
  audit: Audit
  limits: Pick<StoredLimits, 'limitedOf'>
  trace: Pick<TraceArea, 'calls' | 'costs' | 'files' | 'objects'>
  training: Pick<TrainingArea, 'baseModels' | 'checkpointFiles' | 'checkpoints' | 'registry'>
}

/** Completions of base models, checkpoints and models of providers. */
export interface InferenceArea extends Area {
  playground: Playground
}

export function createInferenceArea(deps: InferenceDeps): InferenceArea {
  const { version, traces, log, engine, options, providers, trace, training } = deps
  const { calls, costs, files, objects } = trace
  const { registry: models, checkpoints, baseModels, checkpointFiles } = training
  const { keyLimits, projectLimits } = options
  const served = createServedModels({
    models,
    checkpoints,
    baseModels,
    defaultBaseModel: engine.baseModel,
  })
  const counter = createUsageCounter({ traces, log })
  const loaded = createLoadedAdapters({ files: checkpointFiles })
  const usage = createUsage({ traces, costs, counter })
  const budgets = createBudgets({ limits: deps.limits, usage })
  const gateway = createGateway({
    served,
    budgets,
    loaded,
    baseModels,
    admission: createAdmission({ key: keyLimits, project: projectLimits }),
    usage: counter,
    projectOf: createProjectOf(options.projectHeaders),
  })
  const { priorityScheduling, mmProcessorKwargs } = baseModels
  const abilities = { priorityScheduling, mmProcessorKwargs }
  const traced = options.traceCompletions ? createTracing({ calls, log }) : untraced
  const publicFetch = createPublicFetch({
    allowedHosts: deps.outboundHosts,
    setting: 'HEDDLE_SCORER_HOSTS',
  })
  const registry = createProviderRegistry({ ...deps, configured: providers, publicFetch })
  const chat = createChatCompletions({ gateway, abilities, traced })
  const playground = createPlayground({
    chat,
    resolveModel: served.resolve,
    providers: registry,
    calls,
    objects,
    files,
  })
  const information = createInferenceInformation({
    version,
    compute: engine.compute,
    gateway,
    loaded,
    served,
    models,
    checkpoints,
    limits: { key: keyLimits, project: projectLimits },
  })
  return {
    playground,
    removals: [createUsageRemoval({ ...deps, counter }), createProvidersRemoval(deps)],
    routes: [
      ...chatCompletionsRoutes(chat),
      ...completionsRoutes(createCompletions({ gateway, abilities, traced })),
      ...embeddingsRoutes(createEmbeddings({ gateway })),
      ...tokensRoutes(createTokens({ gateway })),
      ...servedModelsRoutes(served),
      ...usageRoutes(usage),
      ...budgetsRoutes(budgets),
      ...inferenceInformationRoutes(information),
      ...providersRoutes(registry),
      ...playgroundRoutes(playground),
    ],

    async start() {
      await using starting = new AsyncDisposableStack()
      starting.use(publicFetch)
      starting.use(counter.start())
      const warming = new AbortController()
      starting.defer(() => warming.abort(new Error('The server is stopping')))
      // Not awaited: a failure shows with the first request.
      gateway.warmUp(engine.baseModel, warming.signal).catch(() => {})
      return starting.move()
    },
  }
}
