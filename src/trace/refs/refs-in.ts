import { invalidRequest } from '../../errors.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import { internalRef, isInternalRef, isRef } from '../ref-uri.ts'

/**
 * All distinct refs among the string values of a payload, in order of appearance; keys do not count.
 * @throws 400 for a malformed ref, or for an internal one, which clients have no reason to send.
 */
export function refsIn(payload: JsonText): string[] {
  // Most payloads hold no ref; a text search is far cheaper than a walk.
  if (!/weave:\\?\/|weave-trace-internal:/.test(payload.text)) return []
  const refs = new Set<string>()
  collect(payload.value(), refs)
  return [...refs]
}

function collect(value: unknown, refs: Set<string>): void {
  if (typeof value === 'string') {
    if (isInternalRef(value)) throw invalidRequest('Unexpected internal ref format')
    if (!isRef(value)) return
    internalRef(value)
    refs.add(value)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, refs)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) collect(member, refs)
  }
}
