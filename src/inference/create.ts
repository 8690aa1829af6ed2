import type { Limits } from '../config.ts'
import type { Log } from '../log.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Costs } from '../trace/costs/service.ts'
import type { EngineOptions, Training } from '../training/create.ts'
import { createChatCompletions } from './chat-completions/service.ts'
import { createCompletions } from './completions/service.ts'
import { createEmbeddings } from './embeddings/service.ts'
import { createAdmission } from './gateway/admission.ts'
import { createProjectOf } from './gateway/project-header.ts'
import { createGateway } from './gateway/service.ts'
import { createInferenceInformation } from './information/service.ts'
import { createLoadedAdapters } from './models/loaded-adapters.ts'
import { createServedModels } from './models/served-models.ts'
import { createTokens } from './tokens/service.ts'
import { createTracing, untraced } from './tracing.ts'
import { createUsageRecording } from './usage/recording.ts'
import { createUsage } from './usage/service.ts'

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
  training: Training
  engine: EngineOptions
  traces: TraceDb
  costs: Costs
  calls: Calls
  log: Log
  options: InferenceOptions
}

/** Wires the inference half. */
export function createInference(deps: InferenceDeps) {
  const { training, engine, traces, costs, calls, log, options } = deps
  const { models, checkpoints, baseModels, checkpointFiles } = training
  const servedModels = createServedModels({
    models,
    checkpoints,
    baseModels,
    defaultBaseModel: engine.baseModel,
  })
  const projectOf = createProjectOf(options.projectHeaders)
  const usageRecording = createUsageRecording({ traces, log })
  const loaded = createLoadedAdapters({ files: checkpointFiles })
  const gateway = createGateway({
    served: servedModels,
    loaded,
    baseModels,
    admission: createAdmission({ key: options.keyLimits, project: options.projectLimits }),
    usage: usageRecording,
    projectOf,
  })
  const { priorityScheduling, mmProcessorKwargs } = baseModels
  const abilities = { priorityScheduling, mmProcessorKwargs }
  const traced = options.traceCompletions ? createTracing({ calls, log }) : untraced
  return {
    servedModels,
    chatCompletions: createChatCompletions({ gateway, abilities, traced }),
    completions: createCompletions({ gateway, abilities, traced }),
    embeddings: createEmbeddings({ gateway }),
    tokens: createTokens({ gateway }),
    usage: createUsage({ traces, costs, recording: usageRecording }),
    inferenceInformation: createInferenceInformation({
      version: deps.version,
      compute: engine.compute,
      gateway,
      loaded,
      served: servedModels,
      models,
      checkpoints,
      limits: { key: options.keyLimits, project: options.projectLimits },
    }),

    /** Starts background work. */
    startInference(): AsyncDisposable {
      const warming = new AbortController()
      // Not awaited: a failure shows with the first request.
      gateway.warmUp(engine.baseModel, warming.signal).catch(() => {})
      const recording = usageRecording.start()
      return {
        async [Symbol.asyncDispose]() {
          warming.abort(new Error('The server is stopping'))
          await recording[Symbol.asyncDispose]()
        },
      }
    },
  }
}
