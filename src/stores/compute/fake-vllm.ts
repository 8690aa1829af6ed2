/**
 * A vLLM for tests: an HTTP server that answers a chat with the weights of the requested adapter, or does what
 * the last message says: `refuse`, `fail`, `die`, `hang`, `hold` (answers nothing until the client goes), `garble` (a
 * whole event and then half of one). Arguments: port, served model, and a bearer key if it is to require one.
 */
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readFakeAdapter } from './fake-adapter.ts'

const [port = '', served = '', key] = process.argv.slice(2)
const adapters = new Map<string, string>()
let isAsleep = false

/** Where it is there, falling asleep and waking fail. */
const BROKEN_FILE = 'no-sleep'

interface Chat {
  model: string
  stream?: boolean
  messages: { content: string }[]
  lora_name: string
  lora_path: string
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await textOf(request)
  const reply = (status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
  // Health is open, as vLLM's is.
  if (request.url === '/health') return reply(200, {})
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) return reply(401, {})
  if (request.url === '/v1/models') {
    return reply(200, { object: 'list', data: [served, ...adapters.keys()].map((id) => ({ id })) })
  }
  if (request.url === '/heddle/sleep' || request.url === '/heddle/wake') {
    const wanted = request.url === '/heddle/sleep'
    if (wanted === isAsleep || existsSync(BROKEN_FILE)) return reply(500, { error: 'made to fail' })
    isAsleep = wanted
    return reply(200, {})
  }
  if (request.method === 'GET') return reply(404, { detail: 'Not Found' })
  if (isAsleep) {
    const isProbe = request.headers['x-heddle-probe'] !== undefined
    return isProbe ? reply(200, {}) : reply(500, { error: 'it sleeps' })
  }
  const chat = JSON.parse(body) as Chat
  if (request.url === '/v1/load_lora_adapter') {
    if (adapters.has(chat.lora_name)) return reply(400, { error: 'The adapter has already been loaded' })
    adapters.set(chat.lora_name, readFakeAdapter(chat.lora_path))
    return reply(200, {})
  }
  const usage = { prompt_tokens: 5, total_tokens: 7, completion_tokens: 2 }
  const head = { id: 'cmpl-1', created: 1, model: chat.model, usage }
  if (request.url === '/v1/completions') {
    const choices = [{ index: 0, text: body, finish_reason: 'stop' }]
    const whole = { ...head, object: 'text_completion', choices }
    if (chat.stream !== true) return reply(200, whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`)
    return
  }
  if (request.url === '/tokenize') return reply(200, { count: 2, max_model_len: 9, tokens: [1, 2] })
  if (request.url === '/detokenize') return reply(200, { prompt: body })
  if (request.url !== '/v1/chat/completions') return reply(404, { detail: 'Not Found' })
  if (chat.model !== served && !adapters.has(chat.model)) {
    return reply(404, { error: { message: 'no such model', type: 'NotFoundError', code: 404 } })
  }
  switch (chat.messages.at(-1)?.content) {
    case 'refuse':
      return reply(400, {
        error: { message: 'made to refuse', type: 'BadRequestError', param: 'stop', code: 400 },
      })
    case 'fail':
      return reply(500, { error: { message: 'made to fail', type: 'InternalServerError', code: 500 } })
    case 'die':
      process.stderr.write('Loaded the adapter of another request\n', () => process.exit(1))
      return
    case 'hang':
      process.kill(process.pid, 'SIGSTOP')
      return
    case 'garble':
      response.writeHead(200, {
        'content-type': chat.stream === true ? 'text/event-stream' : 'application/json',
      })
      if (chat.stream === true) response.write('data: {"choices":[]}\n\ndata: {"choices":[{"ind\n\n')
      response.end('{"choices":[{"ind')
      return
    case 'hold':
      if (chat.stream === true)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      return
  }
  const content = `${adapters.get(chat.model) ?? 'no adapter'}: ${body}`
  if (chat.stream === true) return stream(response, { model: chat.model, content, usage })
  const message = { role: 'assistant', content, reasoning: 'why' }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  reply(200, { ...head, object: 'chat.completion', choices })
}

/** Usage is always sent: the server requests it whether its client did or not. */
function stream(response: ServerResponse, reply: { model: string; content: string; usage: object }): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: reply.model }
  const event = (choices: unknown[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`
  // An event that is cut in two, as networks do.
  const text = event([{ index: 0, delta: { role: 'assistant', content: reply.content } }])
  response.write(text.slice(0, 20))
  setTimeout(() => {
    response.write(text.slice(20))
    const end = event([{ index: 0, delta: {}, finish_reason: 'stop' }])
    response.end(`${end}${event([], { usage: reply.usage })}data: [DONE]\n\n`)
  }, 5)
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

process.stdout.write(`process ${process.pid}\n`)
createServer((request, response) => void answer(request, response)).listen(Number(port), '127.0.0.1')
process.stdin.on('end', () => process.exit(0)).resume()
