import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { conflict } from '../errors.ts'
import { canonicalJson } from './canonical-json.ts'

/** Digests as the trace service's clients compute them, bit for bit. */

/** 43 characters: URL-safe base64 of SHA-256 with `-` as `X`, `_` as `Y` and no padding. */
export function bytesDigest(bytes: Uint8Array | string): string {
  return written(createHash('sha256').update(bytes).digest())
}

/** Two milliseconds of work; the largest file is 64 times as long. */
const HASHED_AT_ONCE_BYTES = 1024 * 1024

/** The same of a file, which may be large: other requests are served between its pieces. */
export async function fileDigest(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.byteLength; at += HASHED_AT_ONCE_BYTES) {
    if (at > 0) await setImmediate()
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE_BYTES))
  }
  return written(hash.digest())
}

function written(sha256: Buffer): string {
  return sha256.toString('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}

/** The digest of a JSON value given as text. @throws 400 for malformed or internal refs in it, or too deep nesting. */
export function jsonDigest(text: string): string {
  return bytesDigest(canonicalJson(text))
}

/** 64 hex digits over the row digests in order; the digest of an empty table is that of no bytes. */
export function tableDigest(rowDigests: readonly string[]): string {
  const hash = createHash('sha256')
  for (const digest of rowDigests) hash.update(digest)
  return hash.digest('hex')
}

/** Wire: a client that computed a digest sends it, and must learn when it differs. @throws 409 when it does. */
export function checkExpectedDigest(
  expected: string | null | undefined,
  digest: string,
  label = 'content',
): void {
  if (expected != null && expected !== digest) {
    throw conflict(`Client ${label} digest ${expected} != server digest ${digest}`)
  }
}
