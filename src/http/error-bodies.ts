import { z } from 'zod'
import type { Route } from './route.ts'

/** How each wire family writes the body of a refused request; further members say more about one refusal. */
export const ErrorBodies: Record<Route['family'], z.ZodType> = {
  trace: z.looseObject({ reason: z.string() }).meta({ id: 'TraceError' }),
  training: z.looseObject({ detail: z.string() }).meta({ id: 'TrainingError' }),
  openai: z
    .looseObject({
      error: z.object({
        message: z.string(),
        type: z.string(),
        param: z.string().nullable(),
        code: z.number(),
      }),
      detail: z.string(),
    })
    .meta({ id: 'OpenaiError' }),
}
