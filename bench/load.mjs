/** Chat requests by the hundred, at the least cost for the machine that answers them: no reply is parsed. */
import { Pool } from 'undici'

const CHAT = '/v1/chat/completions'

/** A slower answer counts as none. */
const ANSWER_MS_MAX = 120_000

/** The last event of a stream. */
const DONE = Buffer.from('[DONE]')

/** A server as seen by the load generator; connections are kept. */
export function openTarget(url, headers = {}) {
  const pool = new Pool(url, { headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX })
  return {
    /** Milliseconds to the first byte of an answer, once the answer is complete. @throws the other reply. */
    ask: (body) => ask(pool, { ...headers, 'content-type': 'application/json' }, body),
    close: () => pool.close(),
  }
}

/**
 * Keeps `atOnce` requests under way until all are answered.
 * @param bodies makes the body of each request
 */
export async function load(target, { atOnce, requests, bodies }) {
  const firsts = []
  let sent = 0
  async function work() {
    while (sent < requests) {
      sent++
      firsts.push(await target.ask(bodies()))
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: atOnce }, work))
  return { perSecond: (1000 * requests) / (performance.now() - started), firstMs: median(firsts) }
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2
}

function ask(pool, headers, body) {
  const started = performance.now()
  let status = 0
  let type = ''
  let firstMs = 0
  let last = Buffer.alloc(0)
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
          firstMs ||= performance.now() - started
          last = chunk
        },
        onResponseEnd() {
          const isWhole = !type.startsWith('text/event-stream') || last.includes(DONE)
          if (status === 200 && isWhole) fulfil(firstMs)
          else reject(new Error(`Status ${status}, ends with ${last}`))
        },
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}
