import type { LimitBook } from '../accounts/limits/limit-book.ts'
import { needingAccounts } from '../accounts/needing-accounts.ts'
import type { Projects } from '../accounts/projects.ts'
import type { AuthMode } from '../accounts/sessions/me.ts'
import type { Limits } from '../config.ts'
import { createAccountBook } from '../inference/budgets/account-book.ts'
import { followBudgets } from '../inference/budgets/follow-budgets.ts'
import { createLedger } from '../inference/budgets/ledger.ts'
import { createBudgetsRemoval } from '../inference/budgets/removal.ts'
import { budgetsRoutes } from '../inference/budgets/routes.ts'
import { createBudgets } from '../inference/budgets/service.ts'
import { chatCompletionsRoutes } from '../inference/chat-completions/routes.ts'
import { createChatCompletions } from '../inference/chat-completions/service.ts'
import { completionsRoutes } from '../inference/completions/routes.ts'
import { createCompletions } from '../inference/completions/service.ts'
import { embeddingsRoutes } from '../inference/embeddings/routes.ts'
import { createEmbeddings } from '../inference/embeddings/service.ts'
import { createAdmission, type LimitsOf } from '../inference/gateway/admission.ts'
import { createLoadedAdapters } from '../inference/gateway/loaded-adapters.ts'
import { createProjectOf } from '../inference/gateway/project-header.ts'
import { createGateway } from '../inference/gateway/service.ts'
import type { UsageRecorder } from '../inference/gateway/spending.ts'
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
import type { Providers } from '../settings/providers.ts'
import type { SharedUse } from '../shared-use.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { SecretKey } from '../stores/secret-key.ts'
import type { Mutations } from '../stores/trace-db/mutations.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import type { Accounts } from './accounts.ts'
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
  auth: AuthMode
  /** The limits in it count before those of the options. */
  accounts: Pick<Accounts, 'audit' | 'identity' | 'keys' | 'limitBook'>
  /** The clock of budgets. */
  now: () => Date
  /** Configured by the operator, for all teams. */
  providers: Providers
  /** Hosts of providers of teams that need not have a public address. */
  outboundHosts: readonly string[]
  control: ControlDb
  peers: Peers
  sharedUse: SharedUse
  secretKey: SecretKey
  projects: Pick<Projects, 'closed'>
  trace: Pick<TraceArea, 'calls' | 'costs' | 'files' | 'objects'>
  training: Pick<TrainingArea, 'baseModels' | 'checkpointFiles' | 'checkpoints' | 'registry'>
}

/** Completions of base models, checkpoints and models of providers. */
export interface InferenceArea extends Area {
  playground: Playground
}

export function createInferenceArea(deps: InferenceDeps): InferenceArea {
  const { version, log, engine, options, accounts, providers, trace, training } = deps
  const { calls, files, objects } = trace
  const { registry: models, checkpoints, baseModels, checkpointFiles } = training
  const limits = completionLimits(options, accounts.limitBook)
  const served = createServedModels({
    models,
    checkpoints,
    baseModels,
    defaultBaseModel: engine.baseModel,
    closed: deps.projects.closed,
  })
  const { counter, usage, accountBook, recorder } = createMetering(deps)
  const loaded = createLoadedAdapters({ files: checkpointFiles })
  const gateway = createGateway({
    served,
    loaded,
    baseModels,
    admission: createAdmission(limits, deps.sharedUse),
    usage: recorder,
    projectOf: createProjectOf(options.projectHeaders),
  })
  const traced = options.traceCompletions ? createTracing({ calls, log }) : untraced
  const publicFetch = createPublicFetch({ allowedHosts: deps.outboundHosts, setting: 'HEDDLE_SCORER_HOSTS' })
  const registry = createProviderRegistry({ ...deps, ...accounts, configured: providers, publicFetch })
  const chat = createChatCompletions({ gateway, abilities: baseModels, traced })
  const playground = createPlayground({
    chat,
    resolveModel: served.resolve,
    providers: registry,
    usage: recorder,
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
    limits,
  })
  const budgets = budgetsRoutes(createBudgets({ ...deps, ...accounts, accountBook }))
  return {
    playground,
    removals: [
      createUsageRemoval({ ...deps, counter }),
      createBudgetsRemoval({ ...deps, accountBook }),
      createProvidersRemoval(deps),
    ],
    routes: [
      ...chatCompletionsRoutes(chat),
      ...completionsRoutes(createCompletions({ gateway, abilities: baseModels, traced })),
      ...embeddingsRoutes(createEmbeddings({ gateway })),
      ...tokensRoutes(createTokens({ gateway })),
      ...servedModelsRoutes(served),
      ...usageRoutes(usage),
      ...needingAccounts(budgets, deps.auth),
      ...inferenceInformationRoutes(information),
      ...providersRoutes(registry),
      ...playgroundRoutes(playground),
    ],

    async start() {
      await using starting = new AsyncDisposableStack()
      starting.use(publicFetch)
      if (deps.auth === 'keys') starting.use(await followBudgets({ ...deps, accountBook }))
      starting.use(counter.start())
      const warming = new AbortController()
      starting.defer(() => warming.abort(new Error('The server is stopping')))
      // Not awaited: a failure shows with the first request.
      gateway.warmUp(engine.baseModel, warming.signal).catch(() => {})
      return starting.move()
    },
  }
}

/** Counts what completions use; budgets count what is stored as usage. */
function createMetering(deps: InferenceDeps) {
  const { traces, log, peers, accounts, trace } = deps
  const counter = createUsageCounter({ traces, log, peers })
  const usage = createUsage({ traces, costs: trace.costs, counter })
  const accountBook = createAccountBook({ ...deps, counter, usage })
  const { admit, show, add } = createLedger({ ...deps, ...accounts, accountBook, usage })
  const recorder: UsageRecorder = {
    admit,
    show,
    record: (spending) => add(counter.record(spending)),
  }
  return { counter, usage, accountBook, recorder }
}

/** Of a key, the limits that hold of its stored ones, or those of the environment; entities have none there. */
function completionLimits(
  { keyLimits, projectLimits }: Pick<InferenceOptions, 'keyLimits' | 'projectLimits'>,
  book: Pick<LimitBook, 'of'>,
): LimitsOf {
  const stored = (kind: 'entity' | 'key', name: string, others: Limits): Limits => {
    const { running_requests, tokens_per_minute } = book.of(kind, name)
    return {
      requestsMax: running_requests ?? others.requestsMax,
      tokensPerMinute: tokens_per_minute ?? others.tokensPerMinute,
    }
  }
  return {
    key: (id) => stored('key', id, keyLimits),
    project: () => projectLimits,
    entity: (name) => stored('entity', name, UNLIMITED),
  }
}

const UNLIMITED: Limits = {
  requestsMax: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
}
