import { ClientError, messageOf } from '../errors.ts'
import { serveThread } from '../threads/serve-thread.ts'
import { jsonDigest } from './digest.ts'

/** The digest of a text, or the error. */
export type DigestAnswer = { digest: string } | { refused: string } | { failed: string }

/** The program of the thread that makes digests of large texts. */
serveThread(answerTo)

function answerTo(text: string): DigestAnswer {
  try {
    return { digest: jsonDigest(text) }
  } catch (error) {
    return error instanceof ClientError ? { refused: error.message } : { failed: messageOf(error) }
  }
}
