import type { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import { FIRST_ISSUE } from './lax-parse.ts'

/** A value as its schema has it. @throws 400 that begins with `what` and names the field at fault. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value, FIRST_ISSUE)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.length ? `: ${issue.path.join('.')}` : ''
  throw invalidRequest(`${what}${path}: ${issue?.message}`)
}
