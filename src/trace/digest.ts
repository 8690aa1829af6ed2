import { createHash } from 'node:crypto'
import { conflict, invalidRequest } from '../errors.ts'
import { JsonNumber, type LosslessJson, parseLossless } from '../lossless-json.ts'
import { internalRef, isInternalRef, isRef } from './refs/ref-uri.ts'

/**
 * Digests as the trace service's clients compute them, bit for bit. The canonical form is Python's
 * `json.dumps(value, sort_keys=True)` of the value whose refs are in their internal form.
 */

/** 43 characters: URL-safe base64 of SHA-256 with `-` as `X`, `_` as `Y` and no padding. */
export function bytesDigest(bytes: Uint8Array | string): string {
  const digest = createHash('sha256').update(bytes).digest('base64url')
  return digest.replaceAll('-', 'X').replaceAll('_', 'Y')
}

/** The digest of a JSON value given as text. @throws 400 for malformed or internal refs in it, or too deep nesting. */
export function jsonDigest(text: string): string {
  try {
    return bytesDigest(canonicalJson(parseLossless(text)))
  } catch (error) {
    // The walk is recursive: some thousand levels exhaust the stack, which V8 reports as a RangeError.
    if (error instanceof RangeError) throw invalidRequest('The value is nested too deeply')
    throw error
  }
}

/** 64 hex digits over the row digests in order; the digest of an empty table is that of no bytes. */
export function tableDigest(rowDigests: readonly string[]): string {
  const hash = createHash('sha256')
  for (const digest of rowDigests) hash.update(digest)
  return hash.digest('hex')
}

/** The canonical form; refs become internal on the way. */
export function canonicalJson(value: LosslessJson): string {
  if (value instanceof JsonNumber) return pythonNumber(value.source)
  if (typeof value === 'string') return pythonString(internalised(value))
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort(byCodePoint)
    return `{${keys.map((key) => `${pythonString(key)}: ${canonicalJson(value[key] ?? null)}`).join(', ')}}`
  }
  return String(value)
}

function internalised(text: string): string {
  if (isRef(text)) return internalRef(text)
  if (isInternalRef(text)) throw invalidRequest('Unexpected internal ref format')
  return text
}

/** JavaScript compares UTF-16 units, Python code points: they differ above U+FFFF. */
function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0)
  }
  return a.length - b.length
}

/** Python escapes everything outside printable ASCII, DEL too, and of the printable only quote and backslash. */
function pythonString(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Integers keep their digits; floats print as Python's repr. */
function pythonNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source
  return pythonFloat(Number(source))
}

/** Python writes exponents from 1e16 up and below 1e-4, with two digits at least; a float always shows it is one. */
function pythonFloat(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  const magnitude = Math.abs(value)
  if (magnitude !== 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
    const sign = exponent.startsWith('-') ? '-' : '+'
    return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`
  }
  const text = String(value)
  return text.includes('.') ? text : `${text}.0`
}

/** Wire: a client that computed a digest says so, and must hear when it differs. @throws 409 when it does. */
export function checkExpectedDigest(
  expected: string | null | undefined,
  digest: string,
  label = 'content',
): void {
  if (expected != null && expected !== digest) {
    throw conflict(`Client ${label} digest ${expected} != server digest ${digest}`)
  }
}
