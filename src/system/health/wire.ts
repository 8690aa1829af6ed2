import { z } from 'zod'

const StoreHealth = z
  .object({
    ok: z.boolean(),
    error: z.string().nullable(),
    warning: z.string().optional().meta({
      description:
        'It answers, but its last write failed, writes wait for long, its clock differs, or something in it cannot be read',
    }),
  })
  .meta({ id: 'StoreHealth' })

/**
 * Answered with 503 and a `reason` when a store fails. Degraded with 200 for some minutes after an error that is a bug
 * of the server, from a write that failed until one succeeds, while writes to the control database wait for long or its
 * clock differs, and while a part of the trace database cannot be read. An engine process that does not run changes
 * neither.
 */
export const HealthRes = z
  .object({
    status: z.enum(['ok', 'degraded', 'failing']),
    reason: z.string().optional(),
    stores: z.object({ trace_db: StoreHealth, control_db: StoreHealth, blobs: StoreHealth }),
    engine: z.array(z.object({ name: z.string(), state: z.string() })),
  })
  .meta({ id: 'Health' })

export const TrainingHealthRes = z.object({ status: z.literal('ok') }).meta({ id: 'TrainingHealth' })
export type TrainingHealthRes = z.input<typeof TrainingHealthRes>

const Check = z
  .object({ success: z.boolean(), duration: z.number(), errors: z.array(z.string()) })
  .meta({ id: 'SystemCheckPart' })

/** One process of the engine; an idle one is healthy, and starts when it is needed. */
export const EnginePart = z
  .object({
    name: z.string(),
    base_model: z.string(),
    state: z.enum(['idle', 'starting', 'ready', 'asleep', 'restarting', 'failed', 'stopping', 'stopped']),
    since: z.string(),
    last_error: z.string().nullable(),
    waiting_for: z.string().nullable(),
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
