import { KEY } from '../wire/server.ts'
import type { Request, Said, Scenario } from './scenario.ts'

/** What a server said: JSON in which numbers keep their own text, a list for JSON lines, or the text itself. */
export interface Reply {
  status: number
  body: unknown
}

/** A number of JSON as it was written: clients see the difference between 1 and 1.0. */
export class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toJSON(): number {
    return Number(this.text)
  }
}

/** Sends a scenario's requests to one server; the replies are in the same order. */
export async function play(url: string, scenario: Scenario): Promise<Reply[]> {
  const replies = new Map<string, Reply>()
  const said: Said = (title) => {
    const reply = replies.get(title)
    if (reply === undefined) throw new Error(`${scenario.name}: nothing was said to ${title} yet`)
    return reply.body as Record<string, unknown> // Scenarios know which replies are objects.
  }
  for (const request of scenario.requests) {
    if (replies.has(request.title)) throw new Error(`${scenario.name}: ${request.title} is there twice`)
    replies.set(request.title, await send(url, request, said))
  }
  return [...replies.values()]
}

async function send(url: string, request: Request, said: Said): Promise<Reply> {
  const { method, path, body, headers } = request
  const json = (value: unknown) =>
    JSON.stringify(value, (_, part) => (typeof part === 'function' ? part(said) : part))
  const raw = typeof body === 'string' || body instanceof FormData || body === undefined
  const type: Record<string, string> = body instanceof FormData ? {} : { 'Content-Type': 'application/json' }
  const response = await fetch(`${url}${typeof path === 'string' ? path : path(said)}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, ...type, ...headers },
    ...(body === undefined ? {} : { body: raw ? body : json(body) }),
  })
  return { status: response.status, body: parse(await response.text(), response.headers) }
}

function parse(text: string, headers: Headers): unknown {
  const type = headers.get('content-type') ?? ''
  if (type.includes('jsonl')) return text.split('\n').filter(Boolean).map(parseKeepingNumbers)
  return type.includes('json') ? parseKeepingNumbers(text) : text
}

function parseKeepingNumbers(text: string): unknown {
  return JSON.parse(text, (_, value, context?: { source?: string }) =>
    typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
  )
}
