import { z } from 'zod'
import { AnyJson } from '../wire/json-text-wire.ts'

/**
 * A value that is checked like any other and kept as the client's own text. What a chat template prints of it is then
 * what the client wrote: JavaScript values would print `1.0` as `1` and begin with the members that look like integers.
 */
export function asWritten(schema: z.ZodType) {
  const { $schema: _, ...document } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return AnyJson.superRefine((text, context) => {
    const { error } = schema.safeParse(text.value())
    for (const issue of error?.issues ?? []) context.addIssue({ ...issue })
  }).meta(document)
}
