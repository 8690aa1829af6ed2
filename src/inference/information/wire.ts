import { z } from 'zod'
import { EnginePart } from '../../system/health/wire.ts'

/** Wire: the hosted service names a vendor in its paths; here it may be any word. */
export const AnyWordPath = z.object({ any: z.string() })

/** A limit that is not set is null. */
const Limits = z
  .object({ requests_max: z.int().nullable(), tokens_per_minute: z.number().nullable() })
  .meta({ id: 'InferenceLimits' })

/** `loaded`: whether a request is answered without waiting for weights; the newest step's, for a trained model. */
const RoutedModel = z
  .object({
    id: z.string(),
    base_model: z.string(),
    created_at: z.string(),
    loaded: z.boolean(),
    steps: z.int().nullable().meta({ description: 'Checkpoints there are; null for a base model' }),
    newest_step: z.int().nullable(),
    loaded_steps: z.array(z.int()),
  })
  .meta({ id: 'RoutedModel' })

const RoutedEngine = z
  .object({
    base_model: z.string(),
    parts: z.array(EnginePart),
    answers: z.int().meta({ description: 'What the engine is answering' }),
    answers_max: z.int().nullable().meta({ description: 'Null for one that has answered nothing yet' }),
    waiting: z.int().meta({ description: 'Requests that wait for their turn' }),
  })
  .meta({ id: 'RoutedEngine' })

/** The models, their engines, and free capacity. `unavailable` says why no engine can answer, and how to fix it. */
export const RouterModelsRes = z
  .object({
    unavailable: z.string().nullable(),
    models: z.array(RoutedModel),
    engines: z.array(RoutedEngine),
    requests: z.object({ in_flight: z.int(), in_flight_max: z.int() }),
    limits: z.object({ key: Limits, project: Limits }),
    memory: z.object({ budget_bytes: z.number(), used_bytes: z.number() }),
  })
  .meta({ id: 'RouterModels' })

const Percentiles = z.object({ p50: z.number(), p95: z.number() }).meta({ id: 'Percentiles' })

/** Measured on the newest whole answers of a model; waiting for the engine is part of every time. */
const Speeds = z
  .object({
    answers: z.int(),
    duration_ms: Percentiles,
    time_to_first_token_ms: Percentiles.nullable().meta({ description: 'Of streams' }),
    tokens_per_second: Percentiles.nullable().meta({ description: 'Generated for one request' }),
  })
  .meta({ id: 'MeasuredSpeeds' })

/** `speeds` is null for a model that has answered nothing since the server started. */
export const AnalysisModelsRes = z
  .object({
    models: z.array(
      z
        .object({ id: z.string(), base_model: z.string(), speeds: Speeds.nullable() })
        .meta({ id: 'AnalysedModel' }),
    ),
  })
  .meta({ id: 'AnalysisModels' })

const Accelerator = z
  .object({ name: z.string(), memory_bytes: z.number(), memory_used_bytes: z.number(), driver: z.string() })
  .meta({ id: 'Accelerator' })

export const HardwareRes = z
  .object({
    cpu: z.object({ model: z.string(), cores: z.int(), architecture: z.string() }),
    memory: z.object({ total_bytes: z.number(), free_bytes: z.number() }),
    accelerators: z.array(Accelerator),
    engine_memory: z.object({ budget_bytes: z.number(), used_bytes: z.number() }),
    versions: z.object({ heddle: z.string(), node: z.string(), system: z.string() }),
    engine_packages: z
      .record(z.string(), z.string())
      .meta({ description: 'What set-up installs on this machine; empty where it has not' }),
  })
  .meta({ id: 'InferenceHardware' })
