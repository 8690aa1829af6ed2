import type { z } from 'zod'
import { invalidRequest } from '../../errors.ts'

/** A part of a request as its schema has it. @throws 400 that says what is wrong with it. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.length ? `: ${issue.path.join('.')}` : ''
  throw invalidRequest(`Not ${name} of OTLP${path}: ${issue?.message}`)
}
