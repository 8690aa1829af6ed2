import { createLimitedWork } from '../threads/limited-work.ts'
import { jsonDigest } from './digest.ts'

/** The digest of a text of this many characters takes up to 10 ms, which blocks other requests. */
export const DIGESTED_HERE_CHARS_MAX = 256 * 1024

const makeDigest = createLimitedWork<string, string>({
  program: new URL('./digest-worker.ts', import.meta.url),
  does: 'make the digest of a value',
  // Ten times what the largest body takes, of any values, and twice its memory.
  msMax: 20_000,
  memoryMbMax: 1024,
})

/** One large text at a time. */
const ALL = ''

/**
 * The digest of a JSON value given as text, computed in another thread when it takes long.
 * @throws 400 for malformed or internal refs in it, or too deep nesting; 413 for what takes too long or too much
 * memory, 503 without a thread.
 */
export async function digestOf(text: string): Promise<string> {
  return text.length <= DIGESTED_HERE_CHARS_MAX ? jsonDigest(text) : makeDigest(ALL, text)
}
