import type { z } from 'zod'
import { checked as checkedValue } from '../../wire/checked.ts'

/** A part of a request as its schema has it. @throws 400 that names the error. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: string,
): z.output<Schema> {
  return checkedValue(schema, value, `Not ${name} of OTLP`)
}
