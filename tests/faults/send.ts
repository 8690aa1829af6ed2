import { setTimeout as delay } from 'node:timers/promises'
import { KEY } from '../../scripts/own-server.ts'

/** The last refusal of each kind of request, to explain why work does not go on. */
export const refusals = new Map<string, string>()

export const HEADERS = { authorization: `Bearer ${KEY}` }

/**
 * Sends a request again until it is taken. Resolves with the reply; undefined for 404.
 * @throws Error for another refusal than 503
 */
export async function sendUntilTaken(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const content = body instanceof FormData ? body : JSON.stringify(body)
  for (;;) {
    const reply = await fetch(url + path, {
      method,
      headers: HEADERS,
      ...(body !== undefined && { body: content }),
    }).catch(() => undefined)
    const text = await reply?.text().catch(() => undefined)
    if (reply?.ok && text !== undefined) return JSON.parse(text)
    if (reply?.status === 404) return undefined
    refusals.set(
      `${method} ${path.split('/').slice(0, 3).join('/')}`,
      `${reply?.status} ${text?.slice(0, 200)}`,
    )
    if (reply !== undefined && !reply.ok && reply.status !== 503)
      throw new Error(`${path}: ${reply.status} ${text}`)
    await delay(100)
  }
}
