import { z } from 'zod'
import { ClientError, dependencyFailed } from '../../errors.ts'
import type { EngineReply } from '../../stores/compute/port.ts'

/** The engine's error body. */
const EngineError = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.string(), type: z.string().nullish(), param: z.string().nullish() }),
  ]),
})

/** Characters of an error that was not in the engine's usual form. */
const ERROR_CHARS_MAX = 500

/** Reads a whole body. */
export async function readText(reply: EngineReply): Promise<string> {
  const chunks: Uint8Array[] = []
  await reply.read((chunk) => void chunks.push(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** Turns what the engine answered instead of a completion into the error a client sees. */
export function engineError(status: number, text: string): ClientError {
  const parsed = EngineError.safeParse(parseOrUndefined(text))
  const error = parsed.success ? parsed.data.error : text.slice(0, ERROR_CHARS_MAX)
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
