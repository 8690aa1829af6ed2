import { describe, expect, it } from 'vitest'
import { enginesOf } from '../engine-metrics.ts'
import { soonOnReplicas } from '../replicas.ts'
import { trainingClient } from '../training-client.ts'
import { chatServer } from './server.ts'

const MODEL = 'heddle/loom-tiny'

const { call, request, newModel, chat } = trainingClient(chatServer)

interface Completion {
  choices: [{ text: string; logprobs: { tokens: string[] } | null }]
  usage: { prompt_tokens: number; completion_tokens: number }
}

interface Tokens {
  count: number
  tokens: number[]
  token_strs?: string[]
}

const ASK = { messages: [{ role: 'user', content: 'What is 2 + 3?' }], temperature: 0, max_tokens: 16 }

describe('POST /v1/completions', () => {
  it('200 with the text that follows a text or tokens, on the base model and on a step', async () => {
    const { name } = await newModel()
    const body = { prompt: 'The answer is', max_tokens: 4, temperature: 0 }
    const texts: string[] = []
    for (const model of [MODEL, name, `${name}:step0`]) {
      texts.push((await call<Completion>('POST', '/v1/completions', { ...body, model })).choices[0].text)
    }
    expect(new Set(texts).size).toBe(1)
    const { tokens } = await call<Tokens>('POST', '/v1/tokenize', { prompt: body.prompt })
    const again = await call<Completion>('POST', '/v1/completions', { ...body, prompt: tokens, logprobs: 1 })
    expect(again.choices[0]).toMatchObject({ text: texts[0], logprobs: { tokens: expect.any(Array) } })
  })

  it('200 as a stream', async () => {
    const body = { prompt: 'The answer', max_tokens: 4, ignore_eos: true, stream: true, stream_options: {} }
    const events = (await (await request('POST', '/v1/completions', body)).text()).trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({ usage: { completion_tokens: 4 } })
    for (const event of events.slice(0, -1))
      expect(JSON.parse(event.slice(6))).toMatchObject({ model: MODEL })
  })

  it('400 for a request that the engine refuses', async () => {
    const response = await request('POST', '/v1/completions', { prompt: 'x', max_tokens: 9999 })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 400 } })
  })
})

describe('POST /v1/tokenize and /v1/detokenize', () => {
  it('200 with as many tokens as a completion counts, and back to the text', async () => {
    const { messages } = ASK
    const counted = await call<Tokens>('POST', '/v1/tokenize', { messages, return_token_strs: true })
    expect(counted.token_strs).toHaveLength(counted.count)
    const { usage } = await call<Completion>('POST', '/v1/chat/completions', ASK)
    expect(counted.count).toBe(usage.prompt_tokens)
    const { tokens } = await call<Tokens>('POST', '/tokenize', { prompt: 'What is 2 + 3?' })
    expect(await call('POST', '/detokenize', { tokens })).toEqual({ prompt: 'What is 2 + 3?' })
  })
})

describe('POST /v1/embeddings', () => {
  it('400 for a model without embeddings', async () => {
    const response = await request('POST', '/v1/embeddings', { model: MODEL, input: 'x' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('no embeddings') },
    })
  })
})

describe('who may ask', () => {
  it('401 before anything else is looked at', async () => {
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/tokenize', '/v1/embeddings']) {
      const response = await fetch(`${chatServer().url}${path}`, { method: 'POST', body: '{' })
      expect(response.status, path).toBe(401)
      expect(await response.json()).toMatchObject({ error: { type: 'AuthenticationError', code: 401 } })
    }
  })
})

/** Asks for an answer whose tokens count for a project of this name. */
function askIn(project: string, body: object): Promise<Response> {
  return fetch(`${chatServer().url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${chatServer().key}`, 'OpenAI-Project': `local/${project}` },
    body: JSON.stringify({ ...ASK, ...body }),
  })
}

async function usageOf(project: string): Promise<object[]> {
  return (await call<{ data: object[] }>('GET', `/v1/usage?project=${project}&group_by=model`)).data
}

describe('GET /v1/usage', () => {
  it('200 with the tokens that replies have counted', async () => {
    const { usage } = (await (await askIn('counted', {})).json()) as Completion
    await (await askIn('counted', { stream: true })).text()
    const counted = {
      model: MODEL,
      requests: 2,
      requests_cut: 0,
      prompt_tokens: 2 * usage.prompt_tokens,
      completion_tokens: 2 * usage.completion_tokens,
    }
    await soonOnReplicas(async () => expect(await usageOf('counted')).toMatchObject([counted]))
  })
})

describe('an adapter that the engine has lost', () => {
  it('is loaded again, and its step is never a 404', async () => {
    const { name } = await newModel()
    const before = await chat(name)
    for (const { url, key } of enginesOf(chatServer())) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const models = await fetch(`${url}/v1/models`, { headers })
      const { data } = (await models.json()) as { data: { id: string }[] }
      for (const { id } of data.filter((model) => model.id !== MODEL)) {
        const body = JSON.stringify({ lora_name: id })
        await fetch(`${url}/v1/unload_lora_adapter`, { method: 'POST', headers, body })
      }
    }
    expect(await chat(name)).toBe(before)
  })
})

describe("the engine's own port", () => {
  it.each([undefined, 'Bearer guessed'])(
    "401 for the key %s: adapters and answers are only the server's",
    async (authorization) => {
      const [{ url } = { url: '' }] = enginesOf(chatServer())
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
      const asked = { lora_name: 'own', lora_path: '/etc', model: MODEL, prompt: 'a', messages: [] }
      for (const path of ['load_lora_adapter', 'unload_lora_adapter', 'completions', 'chat/completions']) {
        const reply = await fetch(`${url}/v1/${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(asked),
        })
        expect(reply.status).toBe(401)
      }
    },
  )
})

describe('SIGTERM while an answer is being streamed', () => {
  it('the answer comes to its end, and its tokens are counted', async () => {
    const response = await askIn('stopped', { ignore_eos: true, max_tokens: 60, stream: true })
    const reader = response.body?.getReader()
    let text = Buffer.from((await reader?.read())?.value ?? []).toString()
    const stopped = chatServer().signal('SIGTERM')
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      text += Buffer.from(next.value).toString()
    expect(text.trim().endsWith('data: [DONE]')).toBe(true)
    expect((await stopped).code).toBe(0)
    await chatServer().start()
    expect(await usageOf('stopped')).toMatchObject([{ model: MODEL, completion_tokens: 60 }])
  })
})
