import { noteAnswer, noteNoAnswer } from './connection.ts'
import { parseJson } from './json.ts'
import { credentials, refuse } from './key.ts'
import { noteServerTime } from './server-clock.ts'

/** A request that the server refused or that did not reach it; `status` is 0 for the latter. */
export class ApiError extends Error {
  readonly status: number
  readonly requestId: string | undefined
  /** Of a request without an answer: whether it can be sent again without doing twice what it may have done. */
  readonly isRepeatable: boolean

  constructor(
    status: number,
    message: string,
    { requestId, isRepeatable = false }: { requestId?: string | undefined; isRepeatable?: boolean } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.requestId = requestId
    this.isRepeatable = isRepeatable
  }
}

/** Why a change failed; one without an answer may have been made nevertheless. */
export function failureOf(error: Error): string {
  if (!(error instanceof ApiError) || error.status !== 0 || error.isRepeatable) return error.message
  return 'The server did not answer. The change may have been made all the same: look before you repeat it.'
}

/** Whether the error means that the thing does not exist. */
export function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Becomes JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Whether sending it twice does no more than sending it once; so by default where the method is not POST. */
  isRepeatable?: boolean
}

/** One request in the name of this browser. @throws ApiError for any other status than success. */
export async function ask(path: string, options: Ask = {}): Promise<Response> {
  const { body, signal } = options
  const method = options.method ?? (body === undefined ? 'GET' : 'POST')
  const headers = { ...credentials(), ...options.headers }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init: RequestInit = { method, headers }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal !== undefined) init.signal = signal
  const response = await fetch(path, init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    noteNoAnswer()
    const isRepeatable = options.isRepeatable ?? method !== 'POST'
    throw new ApiError(0, 'The server cannot be reached', { isRepeatable })
  })
  noteAnswer()
  noteServerTime(response.headers.get('date'))
  if (response.ok) return response
  if (response.status === 401) refuse()
  const requestId = response.headers.get('x-request-id') ?? undefined
  throw new ApiError(response.status, await reasonOf(response), { requestId })
}

/** A JSON reply. The caller names its type, which the wire schema of that path defines. */
export async function askJson<Reply>(path: string, options: Ask = {}): Promise<Reply> {
  return parseJson(await (await ask(path, options)).text()) as Reply
}

/** The documents of a reply that has one a line, as they come. */
export async function* askLines<Line>(path: string, options: Ask): AsyncGenerator<Line> {
  for await (const line of textLines(path, options)) yield parseJson(line) as Line
}

/** The lines themselves. */
export async function* textLines(path: string, options: Ask): AsyncGenerator<string> {
  const { body } = await ask(path, options)
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield line
    }
    if (rest !== '') yield rest
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** Each family of the API names its reason differently: `reason`, `detail` (a text or a list), or `error.message`. */
async function reasonOf(response: Response): Promise<string> {
  const fallback = `The server answered ${response.status}`
  const text = await response.text().catch(() => '')
  try {
    const { reason, detail, error } = JSON.parse(text) as {
      reason?: string
      detail?: string | { msg?: string; loc?: string[] }[]
      error?: { message?: string }
    }
    if (typeof reason === 'string') return reason
    if (typeof error?.message === 'string') return error.message
    if (typeof detail === 'string') return detail
    const [first] = detail ?? []
    return first?.msg === undefined ? fallback : `${first.msg} (${first.loc?.join('.') ?? ''})`
  } catch {
    return fallback
  }
}
