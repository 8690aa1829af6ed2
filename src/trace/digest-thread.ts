import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { dependencyFailed, invalidRequest } from '../errors.ts'
import { jsonDigest } from './digest.ts'
import type { DigestAnswer } from './digest-worker.ts'

/** The digest of a text of so many characters takes up to 10 ms, for which others wait. */
export const DIGESTED_HERE_CHARS_MAX = 256 * 1024

/** One large text at a time: the rest of the machine is for everybody. */
const turns = pLimit(1)
let thread: Worker | undefined

/**
 * The digest of a JSON value given as text, which is made in another thread when it takes long.
 * @throws 400 for malformed or internal refs in it, or too deep nesting; 503 without a thread.
 */
export async function digestOf(text: string): Promise<string> {
  if (text.length <= DIGESTED_HERE_CHARS_MAX) return jsonDigest(text)
  const answer = await turns(() => asked(text))
  if ('digest' in answer) return answer.digest
  if ('refused' in answer) throw invalidRequest(answer.refused)
  throw dependencyFailed('The digest of a value could not be made', new Error(answer.failed))
}

async function asked(text: string): Promise<DigestAnswer> {
  thread ??= startThread()
  const worker = thread
  const over = new AbortController()
  worker.ref()
  try {
    const answered = once(worker, 'message', { signal: over.signal })
    const ended = once(worker, 'exit', { signal: over.signal }).then(() => {
      throw new Error('The thread ended')
    })
    worker.postMessage(text)
    const [answer] = (await Promise.race([answered, ended])) as [DigestAnswer]
    return answer
  } catch (error) {
    throw dependencyFailed('The digest of a value could not be made', error)
  } finally {
    over.abort()
    worker.unref()
  }
}

function startThread(): Worker {
  const worker = new Worker(new URL('./digest-worker.ts', import.meta.url))
  // What ends it is told to whoever waits for its answer; without a listener it would end the server.
  worker.on('error', () => undefined)
  worker.once('exit', () => {
    if (thread === worker) thread = undefined
  })
  return worker
}
