/** A server as seen by the benchmark: few connections, which are kept, and replies that are read completely. */
import { Pool } from 'undici'

export interface TargetRequest {
  /** POST when absent. */
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export interface Target {
  /** The bytes of an answer. @throws Error with the reply instead of a 2xx. */
  ask(request: TargetRequest): Promise<Buffer>
  /** Reads an answer without keeping it: how many bytes it has. */
  drain(request: TargetRequest): Promise<number>
  close(): Promise<void>
}

/** A slower answer counts as none. */
const ANSWER_MS_MAX = 300_000

/** Opens at most `connections` to a server. */
export function openTarget(url: string, connections: number): Target {
  const pool = new Pool(url, {
    connections,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
    pipelining: 1,
  })
  return {
    async ask({ method = 'POST', ...request }) {
      const { statusCode, body: reply } = await pool.request({ method, ...request })
      const bytes = Buffer.from(await reply.arrayBuffer())
      if (statusCode >= 300)
        throw new Error(`${method} ${request.path}: ${statusCode} ${bytes.subarray(0, 300).toString()}`)
      return bytes
    },
    async drain({ method = 'POST', ...request }) {
      const { statusCode, body: reply } = await pool.request({ method, ...request })
      let bytes = 0
      for await (const chunk of reply) bytes += chunk.length
      if (statusCode >= 300) throw new Error(`${method} ${request.path}: ${statusCode}`)
      return bytes
    },
    close: () => pool.close(),
  }
}

/** The value of a reply that is one document of JSON. */
export function jsonOf(reply: Buffer): unknown {
  return JSON.parse(reply.toString())
}
