/** Chat requests by the hundred, at the least cost for the machine that answers them: no reply is parsed. */
import { Pool } from 'undici'
import { median } from './statistics.ts'

/** A server as seen by the load generator; connections are kept. */
export interface ChatTarget {
  /**
   * Milliseconds to each piece of an answer, once the answer is complete; a stream comes in some piece a token.
   * @throws Error with another reply
   */
  ask(body: object): Promise<number[]>
  close(): Promise<void>
}

export interface Load {
  perSecond: number
  /** Median of the milliseconds to the first byte. */
  firstMs: number
}

const CHAT = '/v1/chat/completions'

/** A slower answer counts as none. */
const ANSWER_MS_MAX = 120_000

/** The last event of a stream. */
const DONE = Buffer.from('[DONE]')

export function openChatTarget(url: string, key: string): ChatTarget {
  const pool = new Pool(url, { headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return { ask: (body) => ask(pool, headers, body), close: () => pool.close() }
}

/**
 * Keeps `atOnce` requests under way until all are answered.
 * @param bodies makes the body of each request
 */
export async function load(
  target: ChatTarget,
  { atOnce, requests, bodies }: { atOnce: number; requests: number; bodies: () => object },
): Promise<Load> {
  const firsts: number[] = []
  let sent = 0
  async function work(): Promise<void> {
    while (sent < requests) {
      sent++
      const [first] = await target.ask(bodies())
      firsts.push(first ?? Number.NaN)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: atOnce }, work))
  return { perSecond: (1000 * requests) / (performance.now() - started), firstMs: median(firsts) }
}

let asked = 0

/** Short but for the text `before` it, and never the same twice, so that no answer comes from a cache. */
export function question({
  model,
  stream,
  tokens,
  before = '',
}: {
  model: string
  stream: boolean
  tokens: number
  before?: string
}): object {
  const number = asked++
  const content = `${before}What is ${number % 1000} + ${Math.floor(number / 1000)}?`
  const messages = [{ role: 'user', content }]
  return { model, messages, stream, max_tokens: tokens, ignore_eos: true, temperature: 0 }
}

function ask(pool: Pool, headers: Record<string, string>, body: object): Promise<number[]> {
  const started = performance.now()
  let status = 0
  let type = ''
  const pieces: number[] = []
  let last: Buffer = Buffer.alloc(0)
  return new Promise((fulfil, reject) => {
    pool.dispatch(
      { path: CHAT, method: 'POST', headers, body: JSON.stringify(body) },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, replyHeaders) {
          status = statusCode
          type = String(replyHeaders['content-type'])
        },
        onResponseData(_controller, chunk) {
          pieces.push(performance.now() - started)
          last = chunk
        },
        onResponseEnd() {
          const isWhole = !type.startsWith('text/event-stream') || last.includes(DONE)
          if (status === 200 && isWhole) fulfil(pieces)
          else reject(new Error(`Status ${status}, ends with ${last}`))
        },
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}
