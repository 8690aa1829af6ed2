import { dependencyFailed, invalidRequest } from '../errors.ts'
import { createThreads } from '../threads/threads.ts'
import { jsonDigest } from './digest.ts'
import type { DigestAnswer } from './digest-worker.ts'

/** The digest of a text of this many characters takes up to 10 ms, which blocks other requests. */
export const DIGESTED_HERE_CHARS_MAX = 256 * 1024

/** One large text at a time; the other processors serve the rest of the machine. */
const ask = createThreads<string, DigestAnswer>({
  program: new URL('./digest-worker.ts', import.meta.url),
  threadsMax: 1,
})

/**
 * The digest of a JSON value given as text, computed in another thread when it takes long.
 * @throws 400 for malformed or internal refs in it, or too deep nesting; 503 without a thread.
 */
export async function digestOf(text: string): Promise<string> {
  if (text.length <= DIGESTED_HERE_CHARS_MAX) return jsonDigest(text)
  const answer = await ask(text).catch((error: unknown) => {
    throw digestFailed(error)
  })
  if ('digest' in answer) return answer.digest
  if ('refused' in answer) throw invalidRequest(answer.refused)
  throw digestFailed(new Error(answer.failed))
}

function digestFailed(cause: unknown): Error {
  return dependencyFailed('The digest of a value could not be made', cause)
}
