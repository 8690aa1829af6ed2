import { z } from 'zod'

export const HealthRes = z.object({ status: z.literal('ok') }).meta({ id: 'TrainingHealth' })
export type HealthRes = z.input<typeof HealthRes>

const Check = z
  .object({ success: z.boolean(), duration: z.number(), errors: z.array(z.string()) })
  .meta({ id: 'SystemCheckPart' })

/** One process of the engine; an idle one is healthy, and starts when it is needed. */
export const EnginePart = z
  .object({
    name: z.string(),
    base_model: z.string(),
    state: z.enum(['idle', 'starting', 'ready', 'restarting', 'failed', 'stopping', 'stopped']),
    since: z.string(),
    last_error: z.string().nullable(),
    users: z.int(),
    memory_bytes: z.number(),
  })
  .meta({ id: 'EnginePart' })

/** Bytes are estimates, by which processes share the memory. */
const Engine = z
  .object({
    memory_budget_bytes: z.number(),
    memory_used_bytes: z.number(),
    parts: z.array(EnginePart),
  })
  .meta({ id: 'Engine' })

/** Wire: answered with 503 when a check fails; clients ignore `engine`. */
export const SystemCheckRes = z
  .object({ api: z.literal(true), database: Check, cpu_queue: Check, gpu_queue: Check, engine: Engine })
  .meta({ id: 'SystemCheck' })
