import { z } from 'zod'

/**
 * A list whose length is looked at before its elements: each wrong element costs some hundred bytes, and a body has
 * room for millions.
 */
export function listOf<Item extends z.ZodType>(item: Item, lengthMax: number, lengthMin = 0) {
  return z
    .array(z.unknown())
    .min(lengthMin)
    .max(lengthMax)
    .pipe(z.array(item))
    .meta({
      type: 'array',
      items: documentOf(item),
      ...(lengthMin > 0 && { minItems: lengthMin }),
      maxItems: lengthMax,
    })
}

/**
 * An object with any names, of which there may be so many. They are counted before any member is looked at: zod looks
 * at all of them, also after a wrong one, which costs up to 35 µs each.
 */
export function recordOf<Value extends z.ZodType>(value: Value, membersMax: number) {
  const error = `Object should have at most ${membersMax} members`
  return z
    .unknown()
    .refine((members) => hasAtMost(members, membersMax), { error, abort: true })
    .pipe(z.record(z.string(), value))
    .meta({ type: 'object', additionalProperties: documentOf(value), maxProperties: membersMax })
}

function hasAtMost(value: unknown, membersMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  let members = 0
  for (const _ in value) if (++members > membersMax) return false
  return true
}

function documentOf(schema: z.ZodType) {
  const { $schema: _, ...document } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return document
}
