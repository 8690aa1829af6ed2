import { JSON_DEPTH_MAX, JSON_VALUES_MAX, tooDeep, tooManyValues } from '../json/json-limits.ts'
import { JsonText } from '../json/lossless-json.ts'

/**
 * Checks the size of a body before its schema is applied. Payloads, which are kept as text, count as one value each.
 * @throws 413 for more values than may be checked one by one, 400 for more levels than allowed.
 */
export function checkEnvelope(body: unknown): void {
  let values = 0
  let depth = 0
  let level: unknown[] = [body]
  while (level.length > 0) {
    values += level.length
    if (values > JSON_VALUES_MAX) throw tooManyValues()
    if (depth++ > JSON_DEPTH_MAX) throw tooDeep()
    level = level.flatMap(childrenOf)
  }
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return []
  return Array.isArray(value) ? value : Object.values(value)
}
