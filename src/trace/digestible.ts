import { invalidRequest } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { endOfString, skipSpace } from '../json/lossless-json.ts'
import { internalRef, isInternalRef, isRef } from './ref-uri.ts'

/**
 * Checks a JSON value, given as text, for what no digest can be made of; a digest itself takes twenty times as long.
 * @throws 400 for malformed or internal refs in it, or too deep nesting.
 */
export function checkDigestible(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      const end = endOfString(text, at)
      if (mayBeRef(text, at) && !isName(text, end)) internalised(JSON.parse(text.slice(at, end)))
      at = end - 1
    } else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > JSON_DEPTH_MAX) throw tooDeep()
    } else if (unit === 0x7d || unit === 0x5d) depth--
  }
}

export function tooDeep(): Error {
  return invalidRequest('The value is nested too deeply')
}

/** A string as it is in digests. @throws 400 for malformed or internal refs. */
export function internalised(text: string): string {
  if (isRef(text)) return internalRef(text)
  if (isInternalRef(text)) throw invalidRequest('Unexpected internal ref format')
  return text
}

const QUOTE = 0x22

/** What all refs begin with. */
const SCHEME = 'weave'

/** Whether the string whose opening quote is at `at` begins as refs do, perhaps with escapes. */
function mayBeRef(text: string, at: number): boolean {
  return text.startsWith(SCHEME, at + 1) || text.slice(at + 1, at + 1 + SCHEME.length).includes('\\')
}

/** Whether the string before `end` is the name of a member, which may be anything. */
function isName(text: string, end: number): boolean {
  return text[skipSpace(text, end)] === ':'
}
