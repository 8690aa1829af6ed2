import { afterAll, describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { documentsOf, useTestServer } from '../../testing.ts'
import { openFakeProvider, PIXEL } from './fake-provider.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  compute: openFakeCompute,
  providers: new Map([
    ['openai', { baseUrl: provider.baseUrl, apiKey: 'secret' }],
    ['fake', { baseUrl: provider.baseUrl, apiKey: undefined }],
    ['gone', { baseUrl: 'http://127.0.0.1:1/v1', apiKey: undefined }],
  ]),
})

interface Fields {
  [field: string]: unknown
}

interface Outcome {
  project: string
  reply: Fields & { response: Fields; weave_call_id: string | null }
}

function bodyOf(project_id: string, inputs: Fields, said: string, fields: Fields = {}): Fields {
  const messages = [{ role: 'user', content: said }]
  return { project_id, inputs: { model: 'gpt-4o-mini', messages, ...inputs }, ...fields }
}

async function complete(inputs: Fields, said = 'hi', fields: Fields = {}): Promise<Outcome> {
  const project = server.newProject()
  const response = await server.post('/completions/create', bodyOf(project, inputs, said, fields))
  expect(response.status, await response.clone().text()).toBe(200)
  return { project, reply: (await response.json()) as Outcome['reply'] }
}

async function openStream(inputs: Fields, said: string, fields: Fields = {}) {
  const project = server.newProject()
  const response = await server.post('/completions/create_stream', bodyOf(project, inputs, said, fields))
  expect(response.status).toBe(200)
  return { project, response }
}

async function readCall(project_id: string, id: unknown): Promise<Fields> {
  const response = await server.post('/call/read', { project_id, id, include_costs: true })
  return ((await response.json()) as { call: Fields }).call
}

async function callsOf(project_id: string): Promise<Fields[]> {
  return documentsOf<Fields>(await server.post('/calls/stream_query', { project_id }))
}

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const TOOL_CALLS = [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1.0}' } }]

describe('POST /completions/create', () => {
  it('200 with the answer of a provider, kept as a call with its usage', async () => {
    const [trace_id, parent_id] = [newId(), newId()]
    const fields = { trace_id, parent_id, conversation_id: 'talk', conversation_name: 'Talk' }
    const { project, reply } = await complete({ temperature: 0.5, top_p: null }, 'hi', fields)
    expect(reply).toEqual({
      response: expect.objectContaining({ model: 'fake-model-1', usage: USAGE }),
      weave_call_id: expect.any(String),
      trace_id,
      conversation_id: 'talk',
      span_id: null,
    })
    const messages = [{ role: 'user', content: 'hi' }]
    const body = { model: 'gpt-4o-mini', messages, temperature: 0.5 }
    expect(provider.requests.at(-1)).toEqual({
      url: '/v1/chat/completions',
      authorization: 'Bearer secret',
      body,
    })
    expect(await readCall(project, reply.weave_call_id)).toMatchObject({
      op_name: 'weave.completions_create',
      trace_id,
      parent_id,
      thread_id: 'talk',
      attributes: { conversation_name: 'Talk' },
      inputs: body,
      output: reply.response,
      exception: null,
      summary: {
        usage: { 'gpt-4o-mini': USAGE },
        weave: { status: 'success', costs: { 'gpt-4o-mini': { prompt_tokens_total_cost: 1000 * 1.5e-7 } } },
      },
    })
  })

  it('200 for each way to name a model of a provider', async () => {
    for (const model of ['openai/a/b', 'fake/a/b', 'custom::fake::a/b']) {
      const { project, reply } = await complete({ model })
      expect(reply.response).toMatchObject({ model: 'fake-model-1' })
      expect(provider.requests.at(-1)?.body).toMatchObject({ model: 'a/b' })
      expect(await readCall(project, reply.weave_call_id)).toMatchObject({
        inputs: { model },
        summary: { usage: { [model]: USAGE } },
      })
    }
    expect(provider.requests.at(-1)?.authorization).not.toContain('secret')
  })

  it('200 with the answer of a model that is served here', async () => {
    const asked = provider.requests.length
    const { project, reply } = await complete({ model: TEST_BASE_MODEL, seed: 7, max_tokens: 3 })
    expect(reply.response).toMatchObject({ model: TEST_BASE_MODEL, usage: { total_tokens: 7 } })
    expect(JSON.stringify(reply.response)).toContain('\\"max_tokens\\":3')
    expect(provider.requests).toHaveLength(asked)
    const { summary } = await readCall(project, reply.weave_call_id)
    expect(summary).toMatchObject({ usage: { [TEST_BASE_MODEL]: { prompt_tokens: 5 } } })
  })

  it('200 with tool calls', async () => {
    const tools = [{ type: 'function', function: { name: 'add' } }]
    const { reply } = await complete({ tools }, 'tools')
    expect(reply.response).toMatchObject({ choices: [{ message: { tool_calls: TOOL_CALLS } }] })
    expect(provider.requests.at(-1)?.body).toMatchObject({ tools })
  })

  it('200 without a call where none is requested', async () => {
    const { project, reply } = await complete({}, 'hi', { track_llm_call: false })
    expect(reply).toMatchObject({ response: { usage: USAGE }, weave_call_id: null, trace_id: null })
    expect(await callsOf(project)).toEqual([])
  })

  it.each<[string, Fields, string, string, number]>([
    ['a refused key', {}, '401', 'Provider openai: 401 made to fail', 1],
    ['a provider that is busy', {}, '429', 'Provider openai: 429 made to fail', 3],
    ['a provider that fails', { model: 'fake/m' }, '500', 'Provider fake: 500 made to fail', 3],
    ['what is not JSON', {}, 'html', 'The model answered something that is not JSON', 1],
    ['what no client could read', {}, 'deep', "The model's answer is nested too deeply", 1],
    ['a provider that hangs', { timeout: '2' }, 'hang', 'The model did not answer within 2 s', 1],
    ['a provider that is not there', { model: 'gone/m' }, 'hi', 'Provider gone: Connection error.', 0],
    ['an invalid timeout', { timeout: 'soon' }, 'hi', 'timeout must be a number of seconds', 0],
    ['another way to call', { extra_headers: { host: 'x' } }, 'hi', 'extra_headers is not taken', 0],
    [
      'an unknown provider',
      { model: 'nobody/m' },
      'hi',
      'No model nobody/m here, and no provider nobody.',
      0,
    ],
    ['an unknown step', { model: 'local/p/m:step9' }, 'hi', 'No model local/p/m:step9 here', 0],
    ['what the engine refuses', { model: TEST_BASE_MODEL }, 'refuse', 'made to refuse', 0],
    ['a wrong field', { model: TEST_BASE_MODEL, top_k: 'x' }, 'hi', 'top_k: ', 0],
  ])('200 with the error of %s', async (_name, inputs, said, error, requests) => {
    const asked = provider.requests.length
    const { project, reply } = await complete(inputs, said)
    expect(reply.response).toEqual({ error: expect.stringContaining(error) })
    await eventually(() => expect(provider.requests).toHaveLength(asked + requests))
    expect(await readCall(project, reply.weave_call_id)).toMatchObject({
      exception: reply.response['error'],
      output: null,
      summary: { weave: { status: 'error' } },
    })
  })

  it('200 with the messages of a prompt first, and placeholders filled in', async () => {
    const project_id = server.newProject()
    const val = {
      _type: 'MessagesPrompt',
      messages: [{ role: 'system', content: 'Talk like {who}. {other}' }],
    }
    const made = await server.post('/obj/create', { obj: { project_id, object_id: 'p', val } })
    const { digest } = (await made.json()) as { digest: string }
    const prompt = `weave:///${project_id}/object/p:${digest}`
    const template_vars = { who: 'a {thing}', thing: 'pirate', n: 2 }
    const content = [{ type: 'text', text: '{n} {constructor}' }]
    const inputs = { model: 'gpt-4o-mini', prompt, template_vars, messages: [{ role: 'user', content }] }
    const response = await server.post('/completions/create', { project_id, inputs })
    expect(response.status).toBe(200)
    const messages = [
      { role: 'system', content: 'Talk like a {thing}. {other}' },
      { role: 'user', content: [{ type: 'text', text: '2 {constructor}' }] },
    ]
    const sent = { model: 'gpt-4o-mini', messages }
    expect(provider.requests.at(-1)?.body).toEqual(sent)
    expect(await callsOf(project_id)).toMatchObject([{ inputs: sent }])
  })

  it('200 with the error of an invalid prompt', async () => {
    for (const prompt of ['Be nice', `weave:///a/b/object/p:${'x'.repeat(43)}`]) {
      const { project, reply } = await complete({ prompt })
      expect(reply).toMatchObject({ response: { error: expect.any(String) }, weave_call_id: null })
      expect(await callsOf(project)).toEqual([])
    }
  })

  it('400 for invalid ids, 422 for inputs without a model', async () => {
    const project = server.newProject()
    const statusOf = async (body: Fields) => (await server.post('/completions/create', body)).status
    expect(await statusOf(bodyOf(project, {}, 'hi', { trace_id: 'x' }))).toBe(400)
    expect(await statusOf({ project_id: project, inputs: { messages: [] } })).toBe(422)
    expect(await statusOf(bodyOf(project, { messages: ['hi'] }, 'hi'))).toBe(422)
  })

  it('ends the request to the provider when the client disconnects', async () => {
    const project = server.newProject()
    const [asked, aborted] = [provider.requests.length, provider.aborted()]
    const client = new AbortController()
    const body = JSON.stringify(bodyOf(project, {}, 'hang'))
    const answer = server.request('/completions/create', { method: 'POST', body, signal: client.signal })
    await eventually(() => expect(provider.requests).toHaveLength(asked + 1))
    client.abort()
    await answer.catch(() => {})
    await eventually(() => expect(provider.aborted()).toBeGreaterThan(aborted))
    expect(await callsOf(project)).toMatchObject([{ exception: expect.stringContaining('went away') }])
  })
})

describe('many completions at once', () => {
  it('200 with an error beyond what an entity may have, and answers again when others have ended', async () => {
    const [asked, client] = [provider.requests.length, new AbortController()]
    const untracked = { track_llm_call: false }
    const body = JSON.stringify(bodyOf(server.newProject(), {}, 'hang', untracked))
    const path = (index: number) => `/completions/create${index % 2 === 0 ? '' : '_stream'}`
    const init = { method: 'POST', body, signal: client.signal }
    const answers = Array.from({ length: 205 }, (_, index) => server.request(path(index), init))
    await eventually(() => expect(provider.requests).toHaveLength(asked + 205))
    const { reply } = await complete({}, 'hi', untracked)
    expect(reply.response['error']).toMatch(/^205 answers are being waited for already, 205 of them by \w+:/)
    const ofOther = await server.post('/completions/create', bodyOf('other/team', {}, 'hi', untracked))
    expect(((await ofOther.json()) as Outcome['reply']).response).toHaveProperty('usage')
    client.abort()
    for (const answer of await Promise.allSettled(answers)) {
      if (answer.status === 'fulfilled') await answer.value.body?.cancel()
    }
    await eventually(async () => {
      expect((await complete({}, 'hi', untracked)).reply.response).toHaveProperty('usage')
    })
  })
})

describe('POST /completions/create_stream', () => {
  it('200 with the call first, then the chunks; the call has the whole answer', async () => {
    const { project, response } = await openStream({}, 'hi', { conversation_id: 'talk' })
    expect(response.headers.get('content-type')).toBe('application/jsonl')
    const [meta, ...chunks] = await documentsOf<Fields>(response)
    const { weave_call_id, trace_id } = (meta?.['_meta'] ?? {}) as Fields
    expect(meta).toEqual({
      _meta: { weave_call_id: expect.any(String), trace_id: expect.any(String), conversation_id: 'talk' },
    })
    expect(chunks).toHaveLength(6)
    expect(chunks[1]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [{ delta: { content: 'I am' } }],
    })
    expect(provider.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } })
    expect(await readCall(project, weave_call_id)).toMatchObject({
      trace_id,
      thread_id: 'talk',
      exception: null,
      output: {
        id: 'chatcmpl-fake',
        object: 'chat.completion',
        model: 'fake-model-1',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'I am a fake', reasoning: 'hm' },
            finish_reason: 'stop',
          },
        ],
        usage: USAGE,
      },
      summary: { usage: { 'gpt-4o-mini': USAGE }, weave: { status: 'success' } },
    })
  })

  it('200 with tool calls, which the call has in one piece', async () => {
    const { project, response } = await openStream({}, 'tools')
    await response.text()
    expect(await callsOf(project)).toMatchObject([
      { output: { choices: [{ message: { tool_calls: TOOL_CALLS }, finish_reason: 'tool_calls' }] } },
    ])
  })

  it('200 for a model that is served here', async () => {
    const { project, response } = await openStream({ model: TEST_BASE_MODEL }, 'hi')
    const [, first] = await documentsOf<Fields>(response)
    expect(first).toMatchObject({ model: TEST_BASE_MODEL })
    const content = expect.stringContaining('"include_usage":true')
    expect(await callsOf(project)).toMatchObject([{ output: { choices: [{ message: { content } }] } }])
  })

  it('200 with chunks only where no call is wanted', async () => {
    const { project, response } = await openStream({}, 'hi', { track_llm_call: false })
    expect(await documentsOf<Fields>(response)).toHaveLength(6)
    expect(await callsOf(project)).toEqual([])
  })

  it.each<[string, Fields, string, string]>([
    ['a refused key', {}, '401', 'Provider openai: 401 made to fail'],
    ['what is not a stream', {}, 'html', 'The model answered something that is not a stream'],
    ['what no client could read', {}, 'deep', "The model's answer is nested too deeply"],
    ['an answer that breaks off', {}, 'cut', 'The model broke off its answer'],
    ['a provider that hangs', { timeout: 2 }, 'hang', 'The model did not answer within 2 s'],
    ['an unknown provider', { model: 'nobody/m' }, 'hi', 'no provider nobody'],
    ['what the engine refuses', { model: TEST_BASE_MODEL }, 'refuse', 'made to refuse'],
  ])('200 and the last line is the error of %s', async (_name, inputs, said, error) => {
    const { project, response } = await openStream(inputs, said)
    const lines = await documentsOf<Fields>(response)
    expect(lines[0]).toHaveProperty('_meta')
    expect(lines.at(-1)).toEqual({ error: expect.stringContaining(error) })
    expect(await callsOf(project)).toMatchObject([{ exception: lines.at(-1)?.['error'] }])
  })

  it('200 with one line for an invalid prompt', async () => {
    const { response } = await openStream({ prompt: 'Be nice' }, 'hi')
    expect(await documentsOf<Fields>(response)).toEqual([{ error: expect.any(String) }])
  })

  it('a client that disconnects ends the request to the provider, and the call has the answer so far', async () => {
    const aborted = provider.aborted()
    const { project, response } = await openStream({}, 'hang')
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.read()
    await reader?.cancel()
    await eventually(() => expect(provider.aborted()).toBeGreaterThan(aborted))
    expect(await callsOf(project)).toMatchObject([
      {
        exception: expect.stringContaining('went away'),
        output: { choices: [{ message: { reasoning: 'hm' }, finish_reason: null }] },
      },
    ])
  })
})

describe('POST /image/create', () => {
  async function create(inputs: Fields, fields: Fields = {}): Promise<Outcome> {
    const project = server.newProject()
    const body = {
      project_id: project,
      inputs: { model: 'gpt-image-1', prompt: 'a cat', ...inputs },
      ...fields,
    }
    const response = await server.post('/image/create', body)
    expect(response.status).toBe(200)
    return { project, reply: (await response.json()) as Outcome['reply'] }
  }

  it('200 with the images of a provider; the call has them as files', async () => {
    const { project, reply } = await create({ n: 2 })
    expect(reply.response).toMatchObject({ data: [{ b64_json: PIXEL }, { url: 'http://x/y.png' }] })
    expect(provider.requests.at(-1)).toMatchObject({
      url: '/v1/images/generations',
      body: { model: 'gpt-image-1', prompt: 'a cat', n: 2 },
    })
    const call = await readCall(project, reply.weave_call_id)
    expect(call).toMatchObject({
      op_name: 'weave.image_generation_create',
      inputs: { model: 'gpt-image-1', prompt: 'a cat', n: 2 },
      summary: { usage: { 'gpt-image-1': USAGE } },
    })
    const { data } = call['output'] as { data: { b64_json: { files: Record<string, string> } }[] }
    const files = data[0]?.b64_json.files
    const contentOf = async (name: string) => {
      const response = await server.post('/file/content', { project_id: project, digest: files?.[name] })
      return Buffer.from(await response.arrayBuffer())
    }
    expect((await contentOf('content')).toString('base64')).toBe(PIXEL)
    expect(JSON.parse(String(await contentOf('metadata.json')))).toMatchObject({ mimetype: 'image/png' })
  })

  it('200 with the error of a provider, of a model without images and of an unknown provider', async () => {
    const failures: [Fields, string][] = [
      [{ prompt: '401' }, 'Provider openai: 401 made to fail'],
      [{ model: TEST_BASE_MODEL }, 'makes no images'],
      [{ model: 'nobody/m' }, 'HEDDLE_PROVIDERS'],
    ]
    for (const [inputs, error] of failures) {
      const { project, reply } = await create(inputs)
      expect(reply.response).toEqual({ error: expect.stringContaining(error) })
      expect(await readCall(project, reply.weave_call_id)).toMatchObject({
        exception: reply.response['error'],
      })
    }
  })

  it('200 without a call where none is requested', async () => {
    const { project, reply } = await create({}, { track_llm_call: false })
    expect(reply.weave_call_id).toBeNull()
    expect(await callsOf(project)).toEqual([])
  })
})
