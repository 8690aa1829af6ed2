import { z } from 'zod'
import { ValidationErrorBody } from '../wire/validation-error.ts'
import type { Route } from './route.ts'

const OpenaiErrorObject = z.object({
  message: z.string(),
  type: z.string(),
  param: z.string().nullable(),
  code: z.number(),
})

/** How each wire family writes the body of a refused request; further members say more about one refusal. */
export const ErrorBodies: Record<Route['family'], z.ZodType> = {
  trace: z.looseObject({ reason: z.string() }).meta({ id: 'TraceError' }),
  training: z.looseObject({ detail: z.string() }).meta({ id: 'TrainingError' }),
  openai: z.looseObject({ error: OpenaiErrorObject, detail: z.string() }).meta({ id: 'OpenaiError' }),
}

/** The same of a request that does not have the declared shape. */
export const ValidationErrorBodies: Record<Route['family'], z.ZodType> = {
  trace: ValidationErrorBody,
  training: ValidationErrorBody,
  openai: ValidationErrorBody.extend({ error: OpenaiErrorObject }).meta({ id: 'OpenaiValidationError' }),
}
