import { z } from 'zod'

/**
 * A list whose length is looked at before its elements: each wrong element costs some hundred bytes, and a body has room
 * for millions.
 */
export function listOf<Item extends z.ZodType>(item: Item, lengthMax: number) {
  const { $schema: _, ...items } = z.toJSONSchema(item, { io: 'input', unrepresentable: 'any' })
  return z
    .array(z.unknown())
    .max(lengthMax)
    .pipe(z.array(item))
    .meta({ type: 'array', items, maxItems: lengthMax })
}
