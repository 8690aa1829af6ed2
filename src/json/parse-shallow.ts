import { JSON_DEPTH_MAX } from './json-limits.ts'
import { endOfValue } from './lossless-json.ts'

/** JSON of more than {@link JSON_DEPTH_MAX} levels. */
export class NestedTooDeeply extends SyntaxError {
  constructor() {
    super(`It is nested more than ${JSON_DEPTH_MAX} levels deep`)
  }
}

/**
 * Parses JSON that others wrote and that may be stored: what is nested deeper than what clients may send, clients could
 * not read.
 * @throws SyntaxError, of which {@link NestedTooDeeply} is one
 */
export function parseShallow(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  const value: unknown = JSON.parse(text, reviver)
  // Each level takes two characters.
  if (text.length > 2 * JSON_DEPTH_MAX && isDeep(text)) throw new NestedTooDeeply()
  return value
}

function isDeep(json: string): boolean {
  try {
    endOfValue(json.trimStart(), 0, JSON_DEPTH_MAX)
    return false
  } catch {
    return true
  }
}
