import { z } from 'zod'
import { ClientError, dependencyFailed } from '../../errors.ts'
import { JsonText, type KeepShape, parseKeeping, stringify } from '../../lossless-json.ts'
import type { EngineReply } from '../../stores/compute/port.ts'
import type { SamplingPolicy } from './sampling-policy.ts'

/** The engine's error body. */
const EngineError = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.string(), type: z.string().nullish(), param: z.string().nullish() }),
  ]),
})

/** Logprobs are many numbers that must not change, so they stay the engine's own text. */
const KEEP: KeepShape = { choices: { '*': { logprobs: 'text' } }, prompt_logprobs: 'text' }

/** Reads a whole body. */
export async function readText(reply: EngineReply): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of reply.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Turns what the engine answered instead of a completion into the error a client sees. */
export function engineError(status: number, text: string): ClientError {
  const parsed = EngineError.safeParse(parseOrUndefined(text))
  const error = parsed.success ? parsed.data.error : text.slice(0, 500)
  if (status >= 500) return dependencyFailed('The inference engine failed', new Error(text.slice(0, 2000)))
  if (typeof error === 'string') return new ClientError(status, 'BadRequestError', error)
  return new ClientError(status, error.type ?? 'BadRequestError', error.message, {
    ...(error.param && { param: error.param }),
  })
}

/** What the engine's reply does not say. */
export interface ReplyMarks {
  /** The name that the client asked for. */
  model: string
  /** How a trained model was sampled. */
  policy: SamplingPolicy | undefined
}

/** A reply, or one chunk of it, with our marks; a choice gets them together with its end. */
export function marked(text: string, { model, policy }: ReplyMarks): string {
  const value = parseKeeping(text, KEEP)
  if (!isObject(value)) return text
  if ('model' in value) value['model'] = model
  const choices = value['choices']
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isObject(choice)) continue
    addReasoningContent(choice['message'] ?? choice['delta'])
    if (policy !== undefined && choice['finish_reason'] != null) choice['policy'] = policy
  }
  return stringify(value)
}

/** Wire: clients know the text as `reasoning_content`, newer engines send it as `reasoning`. */
function addReasoningContent(message: unknown): void {
  if (isObject(message) && 'reasoning' in message) message['reasoning_content'] = message['reasoning']
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonText)
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
