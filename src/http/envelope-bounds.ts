import { tooLarge } from '../errors.ts'
import { JsonText } from '../lossless-json.ts'

/** A value that breaks its schema costs some 300 bytes to tell, and a body has room for many millions. */
const VALUES_MAX = 1_000_000

/**
 * Looks at a body before its schema does. Payloads, which are kept as text, count as one value each.
 * @throws 413 for more values than may be looked at one by one.
 */
export function checkEnvelope(body: unknown): void {
  let values = 0
  let level: unknown[] = [body]
  while (level.length > 0) {
    values += level.length
    if (values > VALUES_MAX) throw tooLarge(`The body has more than ${VALUES_MAX} values`)
    level = level.flatMap(childrenOf)
  }
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return []
  return Array.isArray(value) ? value : Object.values(value)
}
