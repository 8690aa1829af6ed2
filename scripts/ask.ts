/** Requests of commands to a running server. */
import { z } from 'zod'
import { messageOf } from '../src/errors.ts'

/** Where a server answers. */
export interface Address {
  url: string
  /**
   * The SHA-256 of the certificate by which it is known there; where absent, it is known by the name in its address.
   */
  certificate?: string | undefined
}

/** A server, and the key that it is asked with. */
export interface Asked extends Address {
  /** Where absent, the one of the environment. */
  key?: string | undefined
}

/** How a command asks. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The key of the environment; an empty variable counts as none. */
const GIVEN_KEY = process.env.HEDDLE_API_KEY || process.env.WANDB_API_KEY || undefined

/** What is sent where no key was given: with `HEDDLE_AUTH=local` any does. */
const ANY_KEY = 'local'

/** Keys go into a header, which has no other characters. */
export const KEY_CHARACTERS = /^[!-~]+$/

/** How much of an answer that no Heddle gives is shown. */
const FOREIGN_CHARS_MAX = 200

/** The reply to a request, of JSON. @throws Error with the server's message, or why it cannot be reached. */
export async function ask(server: Asked, method: Method, path: string, body?: object): Promise<unknown> {
  return jsonOf(server.url, await (await respond(server, method, path, body)).text())
}

/** The documents of a reply with one a line, as they come. @throws Error as {@link ask}, or when the reply is cut. */
export async function* askForLines(server: Asked, path: string, body: object): AsyncGenerator<unknown> {
  const response = await respond(server, 'POST', path, body)
  let rest: string | undefined
  for await (const piece of piecesOf(server.url, response)) {
    const lines = `${rest ?? ''}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield jsonOf(server.url, line)
  }
  // Each document ends its line, and there is one at least.
  if (rest !== '') throw foreign(server.url)
}

/** A request by itself. @throws Error with the server's message, or why it cannot be reached. */
export async function request(
  address: Address,
  method: Method,
  path: string,
  { headers, body }: { headers: Record<string, string>; body: object | undefined },
): Promise<Response> {
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const response = await reach(address, path, init)
  if (response.ok) return response
  throw new Refused(response.status, messageIn(address.url, await response.text()))
}

class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(`${status}: ${message}`)
    this.status = status
  }
}

/**
 * Sends a request and returns its response, also one with an error status.
 * @throws Error with the cause when the server cannot be reached
 */
export async function reach(
  { url, certificate }: Address,
  path: string,
  init: RequestInit,
): Promise<Response> {
  try {
    const target = url.replace(/\/+$/, '') + path
    if (certificate === undefined) return await fetch(target, init)
    // Most servers are asked without it, and need not wait until it is loaded.
    const { fetchPinned } = await import('./pinned-fetch.ts')
    return await fetchPinned(target, init, certificate)
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const isNamedOtherwise =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    const hint = isNamedOtherwise ? ': name it as its certificate does, with --url https://NAME' : ''
    throw new Error(`${url} cannot be reached: ${messageOf(cause)}${hint}`, { cause })
  }
}

/** A reply as what it has to be. @throws Error that the server is another one. */
export function replyOf<Reply extends z.ZodType>(
  url: string,
  schema: Reply,
  reply: unknown,
): z.output<Reply> {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  throw foreign(url, parsed.error)
}

/** That a service answers, but not as this Heddle would. */
export function foreign(url: string, cause?: unknown): Error {
  return new Error(`${url} is no Heddle server, or one of another version`, { cause })
}

async function respond(
  { key = GIVEN_KEY, ...address }: Asked,
  method: Method,
  path: string,
  body?: object,
): Promise<Response> {
  if (key !== undefined && !KEY_CHARACTERS.test(key))
    throw new Error('The key has characters that no key has: see HEDDLE_API_KEY and WANDB_API_KEY')
  try {
    const headers = { authorization: `Bearer ${key ?? ANY_KEY}` }
    return await request(address, method, path, { headers, body })
  } catch (error) {
    if (key !== undefined || !(error instanceof Refused) || error.status !== 401) throw error
    throw new Error(
      `401: The server at ${address.url} wants a key, and none was given: set HEDDLE_API_KEY, or name one with --key`,
      { cause: error },
    )
  }
}

async function* piecesOf(url: string, { body }: Response): AsyncGenerator<string> {
  try {
    yield* (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())
  } catch (error) {
    throw new Error(`${url} has ended the connection`, { cause: error })
  }
}

/** The document of a reply. @throws Error that the server is another one. */
export function jsonOf(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw foreign(url, error)
  }
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
function messageIn(url: string, answer: string): string {
  try {
    const { reason, detail, error } = Refusal.parse(JSON.parse(answer))
    const details = Array.isArray(detail)
      ? detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('\n')
      : detail
    const message = reason ?? error?.message ?? details
    if (message !== undefined) return message
  } catch {
    // It is shown as it is.
  }
  return `${foreign(url).message}; it answers ${JSON.stringify(answer.slice(0, FOREIGN_CHARS_MAX))}`
}
