/** A server as seen by the benchmark: few connections, which are kept, and replies that are read completely. */
import { Pool } from 'undici'

/** A slower answer counts as none. */
const ANSWER_MS_MAX = 300_000

/** Opens at most `connections` to a server. */
export function openTarget(url, connections) {
  const pool = new Pool(url, {
    connections,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    pipelining: 1,
  })

  /** The bytes of an answer. @throws Error with the reply instead of a 2xx. */
  async function ask({ method = 'POST', path, headers, body }) {
    const { statusCode, body: reply } = await pool.request({ method, path, headers, body })
    const bytes = Buffer.from(await reply.arrayBuffer())
    if (statusCode >= 300)
      throw new Error(`${method} ${path}: ${statusCode} ${bytes.subarray(0, 300).toString()}`)
    return bytes
  }

  return {
    ask,
    /** Reads an answer without keeping it: how many bytes it has. */
    async drain({ method = 'POST', path, headers, body }) {
      const { statusCode, body: reply } = await pool.request({ method, path, headers, body })
      let bytes = 0
      for await (const chunk of reply) bytes += chunk.length
      if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode}`)
      return bytes
    },
    close: () => pool.close(),
  }
}
