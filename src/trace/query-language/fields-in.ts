import type { Query } from './wire.ts'

/** The paths of all fields that a query compares. */
export function fieldsIn(query: Query): string[] {
  return [...collect(query)]
}

function* collect(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node)) {
    if (key === '$getField' && typeof value === 'string') yield value
    else yield* collect(value)
  }
}
