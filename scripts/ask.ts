/** Requests of commands to a running server. */
import { z } from 'zod'
import { messageOf } from '../src/errors.ts'

/** A server, and the key that it is asked with. */
export interface Asked {
  url: string
  key: string
}

/** How a command asks. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The key of a command that was given none. */
export const DEFAULT_KEY = process.env.HEDDLE_API_KEY ?? process.env.WANDB_API_KEY ?? 'local'

/** The reply to a request, of JSON. @throws Error with the server's message, or why it cannot be reached. */
export async function ask(server: Asked, method: Method, path: string, body?: object): Promise<unknown> {
  const response = await respond(server, method, path, body)
  return JSON.parse(await response.text())
}

/** The documents of a reply with one a line, as they come. @throws Error as {@link ask}, or when the reply is cut. */
export async function* askForLines(server: Asked, path: string, body: object): AsyncGenerator<unknown> {
  const response = await respond(server, 'POST', path, body)
  let rest = ''
  try {
    for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
    }
  } catch (error) {
    throw new Error(`${server.url} has ended the connection`, { cause: error })
  }
}

async function respond(
  { url, key }: Asked,
  method: Method,
  path: string,
  body: object | undefined,
): Promise<Response> {
  const request = {
    method,
    headers: { authorization: `Bearer ${key}` },
    body: body === undefined ? null : JSON.stringify(body),
  }
  const response = await fetch(url.replace(/\/$/, '') + path, request).catch((error: unknown) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    throw new Error(`${url} cannot be reached: ${messageOf(cause)}`)
  })
  if (response.ok) return response
  throw new Error(`${response.status}: ${messageIn(await response.text())}`)
}

const Refusal = z.object({
  reason: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
  detail: z
    .union([
      z.string(),
      z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
    ])
    .optional(),
})

/** Errors have a reason, or details that name each field at fault. */
function messageIn(answer: string): string {
  try {
    const { reason, detail, error } = Refusal.parse(JSON.parse(answer))
    const details = Array.isArray(detail)
      ? detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('\n')
      : detail
    return reason ?? error?.message ?? details ?? answer
  } catch {
    return answer
  }
}
