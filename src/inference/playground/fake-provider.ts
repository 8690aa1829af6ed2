import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** One request as the provider received it. */
export interface SeenRequest {
  url: string | undefined
  authorization: string | undefined
  body: Record<string, unknown>
}

/** A 1×1 PNG. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const Body = z.record(z.string(), z.unknown())
const Messages = z.array(z.looseObject({ content: z.unknown() }))

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }

const HEAD = { id: 'chatcmpl-fake', created: 1, model: 'fake-model-1' }

const TOOL_CALL = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1.0}' } }

/**
 * A fake of a service with OpenAI's API, for tests. It answers with a fixed text, or follows the last message: `tools`,
 * `hang`, `cut`, `html`, `empty`, `deep`, `say …`, `at the third try: …`, or an HTTP status such as `429`. Asked by a
 * classifier monitor, it says that those classifiers apply whose question contains `yes`.
 */
export interface FakeProvider extends AsyncDisposable {
  baseUrl: string
  /** The requests so far. */
  requests: SeenRequest[]
  /** How many replies were not read to their end. */
  aborted(): number
}

export async function openFakeProvider(): Promise<FakeProvider> {
  const requests: SeenRequest[] = []
  const tries = new Map<string, number>()
  let aborted = 0
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) aborted++
    })
    const body = Body.parse(JSON.parse(await text(request)))
    requests.push({ url: request.url, authorization: request.headers.authorization, body })
    if (request.url === '/v1/images/generations') sendImage(response, String(body['prompt']))
    else sendCompletion(response, body, tries)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    aborted: () => aborted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  const headers = { 'content-type': 'application/json', 'retry-after-ms': '1' }
  response.writeHead(status, headers).end(typeof value === 'string' ? value : JSON.stringify(value))
}

function sendFailure(response: ServerResponse, status: number): void {
  send(response, { error: { message: 'made to fail' } }, status)
}

function sendImage(response: ServerResponse, prompt: string): void {
  if (/^\d+$/.test(prompt)) sendFailure(response, Number(prompt))
  else send(response, { created: 1, data: [{ b64_json: PIXEL }, { url: 'http://x/y.png' }], usage: USAGE })
}

function sendCompletion(
  response: ServerResponse,
  body: Record<string, unknown>,
  tries: Map<string, number>,
): void {
  const prompt = promptOf(body)
  const tried = (tries.get(prompt) ?? 0) + 1
  tries.set(prompt, tried)
  if (/^\d+$/.test(prompt)) sendFailure(response, Number(prompt))
  else if (prompt.startsWith('at the third try') && tried < 3) sendFailure(response, 500)
  else if (prompt === 'empty') send(response, '')
  else if (prompt === 'deep') sendDeep(response, body['stream'] === true)
  else if (prompt === 'html') send(response, '<html>a fake gateway</html>')
  else if (body['stream'] === true) stream(response, prompt)
  else if (prompt !== 'hang') send(response, completion(prompt))
}

/** An answer that Python's `json` cannot read, although it is valid. */
function sendDeep(response: ServerResponse, isStream: boolean): void {
  const deep = `{"choices":[],"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  send(response, isStream ? `data: ${deep}\n\n` : deep)
}

/** The text of the last message. */
export function promptOf(body: Record<string, unknown>): string {
  return String(Messages.parse(body['messages']).at(-1)?.content)
}

function completion(prompt: string): object {
  const content = prompt.startsWith('say ')
    ? prompt.slice('say '.length)
    : (verdictsOf(prompt) ?? 'I am a fake')
  const message = prompt === 'tools' ? { content: null, tool_calls: [TOOL_CALL] } : { content }
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }]
  return { ...HEAD, object: 'chat.completion', choices, usage: USAGE }
}

function verdictsOf(prompt: string): string | undefined {
  const asked = [...prompt.matchAll(/<classifier name="([^"]*)">\n(.*)/g)]
  const verdicts = asked.map(([, name, question = '']) => [
    name,
    { is_match: question.includes('yes'), confidence: 0.5, reason: 'as asked' },
  ])
  return asked.length === 0 ? undefined : JSON.stringify({ classifiers: Object.fromEntries(verdicts) })
}

function stream(response: ServerResponse, prompt: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (fields: object): void => {
    const chunk = { ...HEAD, object: 'chat.completion.chunk', choices: [], ...fields }
    response.write(`data: ${JSON.stringify(chunk, null, 1).replaceAll('\n', '\ndata: ')}\n\n`)
  }
  const delta = (fields: object, finish_reason: string | null = null): void =>
    send({ choices: [{ index: 0, delta: fields, finish_reason }] })
  delta({ role: 'assistant', content: '', reasoning: 'hm' })
  if (prompt === 'hang') return
  if (prompt === 'cut') {
    setImmediate(() => response.destroy())
    return
  }
  if (prompt === 'tools') {
    const [name, first, second] = ['add', '{"a":', '1.0}']
    delta({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: first } }],
    })
    delta({ tool_calls: [{ index: 0, function: { arguments: second } }] })
  } else {
    for (const content of ['I am', ' a', ' fake']) delta({ content })
  }
  delta({}, prompt === 'tools' ? 'tool_calls' : 'stop')
  send({ usage: USAGE })
  response.end('data: [DONE]\n\n')
}
