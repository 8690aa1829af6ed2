/**
 * A vLLM for tests: an HTTP server that answers a chat with the weights of the adapter it was asked for, or does
 * what the last message says: `refuse`, `fail`, `die`, `hang`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readFakeAdapter } from './fake-adapter.ts'

const adapters = new Map<string, string>()

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
  if (request.url === '/health' || request.url === '/v1/completions') return reply(200, {})
  const chat = JSON.parse(body) as Chat
  if (request.url === '/v1/load_lora_adapter') {
    if (adapters.has(chat.lora_name)) return reply(400, { error: 'already loaded' })
    adapters.set(chat.lora_name, readFakeAdapter(chat.lora_path))
    return reply(200, {})
  }
  if (request.url !== '/v1/chat/completions') return reply(404, {})
  switch (chat.messages.at(-1)?.content) {
    case 'refuse':
      return reply(400, {
        error: { message: 'made to refuse', type: 'BadRequestError', param: 'stop', code: 400 },
      })
    case 'fail':
      return reply(500, { error: { message: 'made to fail', type: 'InternalServerError', code: 500 } })
    case 'die':
      return process.exit(1)
    case 'hang':
      process.kill(process.pid, 'SIGSTOP')
      return
  }
  const content = `${adapters.get(chat.model) ?? 'no adapter'}: ${body}`
  if (chat.stream === true) return stream(response, chat.model, content)
  const message = { role: 'assistant', content, reasoning: 'why' }
  const usage = { prompt_tokens: 1, total_tokens: 2, completion_tokens: 1 }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  reply(200, { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: chat.model, choices, usage })
}

function stream(response: ServerResponse, model: string, content: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (choices: unknown[]): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices })}\n\n`
  // An event that is cut in two, as networks do.
  const text = event([{ index: 0, delta: { role: 'assistant', content } }])
  response.write(text.slice(0, 20))
  setTimeout(() => {
    response.write(text.slice(20))
    response.end(`${event([{ index: 0, delta: {}, finish_reason: 'stop' }])}data: [DONE]\n\n`)
  }, 5)
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

const port = Number(process.argv[2])
createServer((request, response) => void answer(request, response)).listen(port, '127.0.0.1')
process.stdin.on('end', () => process.exit(0)).resume()
