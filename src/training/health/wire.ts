import { z } from 'zod'

export const HealthRes = z.object({ status: z.literal('ok') }).meta({ id: 'TrainingHealth' })

const Check = z
  .object({ success: z.boolean(), duration: z.number(), errors: z.array(z.string()) })
  .meta({ id: 'SystemCheckPart' })

/** Wire: answered with 503 when a check fails. */
export const SystemCheckRes = z
  .object({ api: z.literal(true), database: Check, cpu_queue: Check, gpu_queue: Check })
  .meta({ id: 'SystemCheck' })
