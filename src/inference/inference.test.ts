import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { eventually } from '../test-eventually.ts'
import { documentsOf, useTestServer } from '../testing.ts'
import { newTestModel } from './test-models.ts'

const server = useTestServer({
  compute: openFakeCompute,
  inference: {
    traceCompletions: true,
    projectHeaders: ['openai-project', 'other-project'],
    projectLimits: { requestsMax: 2, tokensPerMinute: Number.POSITIVE_INFINITY },
  },
})

async function json<Body = Record<string, unknown>>(response: Response): Promise<Body> {
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Body
}

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return server.request(path, { method: 'POST', body: JSON.stringify(body), headers })
}

function chat(project: string, content = 'hi', fields: object = {}): Promise<Response> {
  const body = { messages: [{ role: 'user', content }], ...fields }
  return post('/v1/chat/completions', body, { 'openai-project': project })
}

const newModel = async (): Promise<string> => (await newTestModel(server)).path

describe('POST /v1/completions', () => {
  it('200 under the requested name, with the request that the engine got', async () => {
    const model = await newModel()
    const reply = await json<{ model: string; choices: [{ text: string; policy: object }] }>(
      await post('/v1/completions', {
        model,
        prompt: [[1, 2]],
        suffix: null,
        seed: 7,
        user: 'me',
        banana: 1,
      }),
    )
    expect(reply.model).toBe(model)
    expect(reply.choices[0].policy).toEqual({ step: 0, biased_by: [] })
    const asked = JSON.parse(reply.choices[0].text) as object
    expect(asked).toMatchObject({ prompt: [[1, 2]], seed: 7 })
    expect(Object.keys(asked).sort()).toEqual(['model', 'prompt', 'seed'])
  })

  it.each([
    ['choice', ['yes', 'no']],
    ['regex', 'a|b'],
    ['grammar', 'root ::= "a"'],
  ])('200: guided_%s is the constraint that the engine knows', async (kind, constraint) => {
    const fields = { prompt: 'x', [`guided_${kind}`]: constraint, guided_json: null }
    const reply = await json<{ choices: [{ text: string }] }>(await post('/v1/completions', fields))
    const { model: _, ...asked } = JSON.parse(reply.choices[0].text) as Record<string, unknown>
    expect(asked).toEqual({ prompt: 'x', structured_outputs: { [kind]: constraint } })
    const both = await post('/v1/completions', { ...fields, structured_outputs: { regex: 'a' } })
    expect(both.status).toBe(400)
  })

  it.each([
    { guided_regex: '([a-z]{1,99}){1,99}' },
    { guided_json: { type: 'object' }, guided_whitespace_pattern: ' ' },
    { guided_choice: ['a'], guided_decoding_backend: 'outlines' },
  ])('400 for guided constraints that the engine cannot keep to: %j', async (fields) => {
    expect((await post('/v1/completions', { prompt: 'x', ...fields })).status).toBe(400)
  })

  it('422 for an invalid prompt, 404 for an unknown model, 400 for too many answers at once', async () => {
    for (const prompt of [{ a: 1 }, [-1], ['a', 1], [[1], ['a']], Array(3000).fill('a')]) {
      expect((await post('/v1/completions', { prompt })).status, JSON.stringify(prompt).slice(0, 40)).toBe(
        422,
      )
    }
    const many = await post('/v1/completions', { prompt: ['a', 'b'], n: 200 })
    expect(many.status).toBe(400)
    expect(await many.json()).toMatchObject({
      error: { message: expect.stringContaining('400 answers'), param: 'n' },
    })
    expect((await post('/v1/completions', { prompt: 'x', model: 'nobody' })).status).toBe(404)
  })
})

describe('POST /v1/tokenize and /v1/detokenize', () => {
  it('200 for a text, a conversation and tokens', async () => {
    for (const body of [{ prompt: 'x' }, { messages: [{ role: 'user', content: 'x' }] }]) {
      expect(await json(await post('/v1/tokenize', body))).toMatchObject({ count: 2, tokens: [1, 2] })
    }
    const reply = await json<{ prompt: string }>(await post('/v1/detokenize', { tokens: [1] }))
    expect(JSON.parse(reply.prompt)).toEqual({ tokens: [1], model: TEST_BASE_MODEL })
  })

  it('422 for neither a text nor a conversation, and for invalid tokens', async () => {
    expect((await post('/v1/tokenize', {})).status).toBe(422)
    expect((await post('/v1/detokenize', { tokens: ['a'] })).status).toBe(422)
  })
})

describe('POST /v1/embeddings', () => {
  it('400 for a model without embeddings', async () => {
    const response = await post('/v1/embeddings', { input: 'x' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: 'This model makes no embeddings' } })
  })

  it('422 without an input', async () => {
    expect((await post('/v1/embeddings', {})).status).toBe(422)
  })
})

describe('GET /v1/usage', () => {
  interface Group {
    [name: string]: unknown
  }
  async function usage(query: Record<string, string>): Promise<Group[]> {
    return (await json<{ data: Group[] }>(await server.request(`/v1/usage?${new URLSearchParams(query)}`)))
      .data
  }
  const tokens = (requests: number) => ({
    requests,
    requests_cut: 0,
    prompt_tokens: 5 * requests,
    cached_tokens: 0,
    completion_tokens: 2 * requests,
    reasoning_tokens: 0,
    total_tokens: 7 * requests,
  })

  it('200 with tokens by project, model, step and key; refused requests cost nothing', async () => {
    const project = `p-${randomUUID()}`
    const model = await newModel()
    await chat(`local/${project}`)
    await chat(`local/${project}`, 'refuse')
    await chat(`local/${project}`, 'hi', { model })
    await chat(`local/${project}`, 'hi', { model, stream: true }).then((response) => response.text())
    expect(await usage({ project, group_by: 'entity,project' })).toEqual([
      { entity: 'local', project, ...tokens(3), cost_usd: null },
    ])
    const bySteps = await usage({ project, group_by: 'step,model,key' })
    expect(bySteps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          model,
          step: 0,
          ...tokens(2),
          key: expect.stringMatching(/^[0-9a-f]{16}$/),
        }),
        expect.objectContaining({ model: TEST_BASE_MODEL, step: null, ...tokens(1) }),
      ]),
    )
    expect(await usage({ project, before: '2020-01-01T00:00:00Z', from: '2019-01-01T00:00:00Z' })).toEqual([])
  })

  async function running(): Promise<number> {
    const path = '/inference/router/anything/models'
    const { requests } = await json<{ requests: { in_flight: number } }>(await server.request(path))
    return requests.in_flight
  }

  it('200 with the prompt of an answer that was cut, whether or not it was compressed', async () => {
    const project = `p-${randomUUID()}`
    const messages = [
      { role: 'user', content: 'word '.repeat(800) },
      { role: 'user', content: 'hold' },
    ]
    const body = JSON.stringify({ messages })
    for (const [sent, headers] of [
      [body, {}],
      [gzipSync(body), { 'content-encoding': 'gzip' }],
    ] as const) {
      const client = new AbortController()
      const init = {
        method: 'POST',
        body: sent,
        headers: { ...headers, 'openai-project': `local/${project}` },
      }
      const answer = server.request('/v1/chat/completions', { ...init, signal: client.signal })
      await eventually(async () => expect(await running()).toBe(1))
      client.abort()
      await answer.catch(() => {})
      await eventually(async () => expect(await running()).toBe(0))
    }
    const prompt_tokens = 2 * Math.ceil(body.length / 4)
    expect(await usage({ project })).toMatchObject([{ requests: 2, requests_cut: 2, prompt_tokens }])
  })

  it('200 with costs by the prices of the project', async () => {
    const project = `p-${randomUUID()}`
    const price = { prompt_token_cost: 1, completion_token_cost: 10 }
    await server.post('/cost/create', {
      project_id: `local/${project}`,
      costs: { [TEST_BASE_MODEL]: { ...price, effective_date: '2020-01-01' } },
    })
    await chat(`local/${project}`)
    expect(await usage({ project })).toMatchObject([{ model: TEST_BASE_MODEL, cost_usd: 25 }])
  })

  it('200 for the project of the model, and for the other header; an invalid name is ignored', async () => {
    const project = `p-${randomUUID()}`
    const body = { messages: [{ role: 'user', content: 'hi' }] }
    await json(await post('/v1/chat/completions', body, { 'other-project': `local/${project}` }))
    expect(await usage({ project })).toHaveLength(1)
    const names = `über 100% ${project}`
    await json(await chat(`local/${encodeURIComponent(names)}`))
    expect(await usage({ project: names })).toHaveLength(1)
    const model = await newModel()
    await json(await chat('not a project', 'hi', { model }))
    expect(await usage({ model })).toMatchObject([{ project: 'proj', requests: 1 }])
  })

  it('422 for an invalid dimension or time', async () => {
    expect((await server.request('/v1/usage?group_by=colour')).status).toBe(422)
    expect((await server.request('/v1/usage?from=yesterday')).status).toBe(422)
  })
})

/** Too large for an engine's memory. */
const MANY_ITEMS = { type: 'array', minItems: 1e9 }

describe('hostile requests', () => {
  it('422 with a bounded reply for long lists and texts, at once', async () => {
    const digits = '1'.repeat(1_000_000)
    for (const fields of [
      { temperature: `${digits}x` },
      { stop_token_ids: Array(300_000).fill('a') },
      { messages: Array(200_000).fill(1) },
      { structured_outputs: { choice: Array(50_000).fill('a') } },
      ...[MANY_ITEMS, JSON.stringify(MANY_ITEMS)].map((json) => ({ structured_outputs: { json } })),
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: MANY_ITEMS } } },
      {
        tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { a: MANY_ITEMS } } } }],
      },
    ]) {
      const response = await chat('local/hostile', 'hi', fields)
      expect(response.status).toBe(422)
      expect((await response.text()).length).toBeLessThan(100_000)
    }
    const body = `{"messages":[{"role":"user","content":"hi"}],"seed":${digits}}`
    expect((await server.request('/v1/chat/completions', { method: 'POST', body })).status).toBe(422)
  })

  it('400 for what the engine would compile for too long', async () => {
    const schema = { type: 'string', pattern: '([a-z]{1,99}){1,99}' }
    const fields = { structured_outputs: { json: schema } }
    const strict = { type: 'function', function: { name: 'f', parameters: schema, strict: true } }
    for (const [response, param] of [
      [await chat('local/hostile', 'hi', fields), 'structured_outputs.json'],
      [await post('/v1/completions', { prompt: 'hi', ...fields }), 'structured_outputs.json'],
      [await chat('local/hostile', 'hi', { tools: [strict] }), 'tools'],
    ] as const) {
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining(`${param} is too large to compile`), param },
      })
    }
  })

  it('400 for a document that is nested too deeply', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const body = `{"messages":[{"role":"user","content":"hi"}],"chat_template_kwargs":{"x":${deep}}}`
    const response = await server.request('/v1/chat/completions', { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: 'The body is nested more than 1000 levels deep' },
    })
  })
})

describe('POST /v1/chat/completions with members of any name', () => {
  it.each([
    ['logit_bias', 1_025],
    ['vllm_xargs', 101],
    ['engine_xargs', 101],
  ])('422 for %s of %i, and none of them is looked at', async (field, count) => {
    const members = Object.fromEntries(Array.from({ length: count }, (_, index) => [index, null]))
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], [field]: members })
    const response = await server.request('/v1/chat/completions', { method: 'POST', body })
    expect(response.status).toBe(422)
    const text = await response.text()
    expect(text).toContain(`at most ${count - 1} members`)
    expect(text).not.toContain('valid number')
  })
})

describe('limits', () => {
  it('429 with numbers and Retry-After while a project has too many requests running', async () => {
    const project = `local/p-${randomUUID()}`
    const held = new AbortController()
    const hold = () =>
      server
        .request('/v1/chat/completions', {
          method: 'POST',
          body: JSON.stringify({ messages: [{ role: 'user', content: 'hold' }] }),
          headers: { 'openai-project': project },
          signal: held.signal,
        })
        .catch(() => undefined)
    const waiting = [hold(), hold()]
    await eventually(async () => expect((await chat(project)).status).toBe(429))
    const response = await chat(project)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/2 requests running.*limit is 2/),
        type: 'RateLimitError',
        code: 429,
      },
    })
    held.abort()
    await Promise.all(waiting)
    await eventually(async () => expect((await chat(project)).status).toBe(200))
  })
})

describe('completions as calls', () => {
  interface Call {
    op_name: string
    inputs: { messages: object[] }
    output: { choices: [{ message: { content: string } }] } | null
    exception: string | null
    summary: { usage?: object }
  }
  async function callsOf(project: string): Promise<Call[]> {
    return documentsOf(await server.post('/calls/stream_query', { project_id: project }))
  }

  it.each([false, true])('a call of the project with its answer and usage; stream: %s', async (stream) => {
    const project = `local/p-${randomUUID()}`
    await (await chat(project, 'hi', { stream })).text()
    await eventually(async () => {
      const [call] = await callsOf(project)
      expect(call).toMatchObject({ op_name: 'chat.completions.create', exception: null })
      expect(call?.inputs.messages).toEqual([{ role: 'user', content: 'hi' }])
      expect(call?.output?.choices[0].message.content).toContain('no adapter')
      expect(call?.summary.usage).toMatchObject({
        [TEST_BASE_MODEL]: { prompt_tokens: 5, completion_tokens: 2 },
      })
    })
  })

  it.each([false, true])('a call of a text completion too; stream: %s', async (stream) => {
    const project = `local/p-${randomUUID()}`
    const reply = await post('/v1/completions', { prompt: 'hi', stream }, { 'openai-project': project })
    await reply.text()
    await eventually(async () => {
      const [call] = await callsOf(project)
      expect(call).toMatchObject({ op_name: 'completions.create', inputs: { prompt: 'hi' }, exception: null })
      expect(call?.summary.usage).toMatchObject({ [TEST_BASE_MODEL]: { completion_tokens: 2 } })
    })
  })

  it('a call with the reason of a refusal', async () => {
    const project = `local/p-${randomUUID()}`
    await chat(project, 'refuse')
    await eventually(async () =>
      expect((await callsOf(project))[0]).toMatchObject({ exception: 'made to refuse' }),
    )
  })
})
