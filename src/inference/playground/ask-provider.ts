import { invalidRequest, messageOf, tooLarge } from '../../errors.ts'
import { keyRemover, withoutKey } from '../../without-key.ts'
import type { FoundProvider } from '../providers/service.ts'
import { NoAnswer } from './answer-errors.ts'

/**
 * Attempts after the first, for retryable replies (429, 5xx) and broken connections; few, since a person is waiting.
 */
const RETRIES_MAX = 2

/** Bytes of one answer: ten images of the largest size. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export interface ProviderRequest {
  /** Below the provider's URL. */
  path: '/chat/completions' | '/images/generations'
  body: object
  deadline: { signal: AbortSignal; timeoutMs: number }
  /** `none`: for a caller that asks again itself. */
  retries: 'few' | 'none'
}

/**
 * Sends a request to a provider and resolves with its body, unread.
 * @throws 400 where the provider refuses it, NoAnswer where it fails
 */
export async function askProvider(
  { name, baseUrl, apiKey, fetch: send }: FoundProvider,
  { path, body, deadline, retries }: ProviderRequest,
): Promise<ReadableStream<Uint8Array>> {
  // Many modules, which a start would load for servers without providers too.
  const { OpenAI, APIError } = await import('openai')
  // Without an explicit value the client would read the environment, which may hold a key of another service.
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: retries === 'few' ? RETRIES_MAX : 0,
    timeout: deadline.timeoutMs,
    logLevel: 'off',
    fetch: (url, init) => boundedFetch(url, init, { send, apiKey }),
  })
  try {
    const response = await client.post(path, { body, signal: deadline.signal }).asResponse()
    return response.body ?? new Blob([]).stream()
  } catch (error) {
    const message = `Provider ${name}: ${withoutKey(reasonOf(error), apiKey)}`
    if (!(error instanceof APIError)) throw new NoAnswer(message, { cause: error })
    if (isRefusal(error.status)) throw invalidRequest(message)
    throw new NoAnswer(message, { cause: error, retryAfterSeconds: secondsIn(error.headers) })
  }
}

/** Whether the same request would be refused again. */
function isRefusal(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 500 && ![408, 409, 429].includes(status)
}

/** Wire: of the two forms of the header, providers send the number. */
function secondsIn(headers: Headers | undefined): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? undefined)
  return seconds > 0 ? seconds : undefined
}

/** The reason of a broken connection is in the cause of its error. */
function reasonOf(error: unknown): string {
  const root = rootOf(error)
  return root === error ? messageOf(error) : `${messageOf(error)} ${messageOf(root)}`
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error
}

/** Only configured addresses are asked: a provider must not redirect requests, nor receive another one's key. */
async function boundedFetch(
  url: string | URL | Request,
  init: RequestInit | undefined,
  { send, apiKey }: { send: typeof fetch; apiKey: string | undefined },
): Promise<Response> {
  const response = await send(url, { ...init, redirect: 'error' })
  const { status, statusText, headers } = response
  const body = response.body?.pipeThrough(atMost(ANSWER_BYTES_MAX)).pipeThrough(keyRemover(apiKey))
  return new Response(body ?? null, {
    status,
    statusText,
    headers,
  })
}

function atMost(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) throw tooLarge(`The answer is larger than ${bytesMax} bytes`)
      controller.enqueue(chunk)
    },
  })
}
