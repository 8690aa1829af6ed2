import { z } from 'zod'
import { ClientError, dependencyFailed } from '../../errors.ts'
import type { EngineReply } from '../../stores/compute/port.ts'

/** The engine's error body, or its framework's. */
const EngineError = z.object({
  detail: z.string().optional(),
  error: z
    .union([
      z.string(),
      z.object({ message: z.string(), type: z.string().nullish(), param: z.string().nullish() }),
    ])
    .optional(),
})

/** Characters of an error that was not in the engine's usual form. */
const ERROR_CHARS_MAX = 500

/** A reply is held as bytes, as text and read; answers with all of their log-probabilities are far smaller. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024

/** Of a reply that is too large: the usage and the fields after it. */
const END_BYTES = 64 * 1024

/** An answer that was computed and cannot be sent. */
export class ReplyTooLarge extends ClientError {
  /** The last bytes of the reply. */
  readonly end: string

  constructor(bytes: number, end: string) {
    const message = `The answer has ${bytes} bytes, more than the ${REPLY_BYTES_MAX} of one reply: stream it`
    super(400, 'BadRequestError', message)
    this.end = end
  }
}

/** Reads a whole body. @throws ReplyTooLarge for one that should have been a stream. */
export async function readText(reply: EngineReply): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let end = Buffer.alloc(0)
  await reply.read((chunk) => {
    bytes += chunk.byteLength
    if (bytes <= REPLY_BYTES_MAX) chunks.push(chunk)
    else {
      const before = end.length === 0 ? (chunks.at(-1) ?? end) : end
      end = Buffer.from(Buffer.concat([before, chunk]).subarray(-END_BYTES))
    }
  })
  if (bytes > REPLY_BYTES_MAX) throw new ReplyTooLarge(bytes, end.toString('utf8'))
  return Buffer.concat(chunks).toString('utf8')
}

/** vLLM's words where its core has ended, which fails all requests; its server then ends as well. */
const CORE_ENDED = 'EngineCore encountered an issue'

/**
 * Whether the engine failed on this request and goes on. Wire: 500 then; other statuses of servers, such as 502 and
 * 503, are those of an overloaded engine or of a proxy whose engine does not answer.
 */
export function failedOnRequest(status: number, text: string): boolean {
  return status === 500 && !text.includes(CORE_ENDED)
}

/** Turns what the engine answered instead of a completion into the error a client sees. */
export function engineError(status: number, text: string): ClientError {
  const parsed = EngineError.safeParse(parseOrUndefined(text))
  const error = parsed.data?.error ?? parsed.data?.detail ?? text.slice(0, ERROR_CHARS_MAX)
  if (status >= 500) return dependencyFailed('The inference engine failed', new Error(text.slice(0, 2000)))
  if (typeof error === 'string') return new ClientError(status, 'BadRequestError', error)
  return new ClientError(status, error.type ?? 'BadRequestError', error.message, {
    ...(error.param && { param: error.param }),
  })
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
