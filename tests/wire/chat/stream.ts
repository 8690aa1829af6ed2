import { describe, expect, it } from 'vitest'
import { engineMetric } from '../engine-metrics.ts'
import { until } from '../until.ts'
import { WEATHER_QUESTION, WEATHER_TOOL } from '../weather-tool.ts'
import { chatServer } from './server.ts'

interface Chunk {
  id: string
  object: string
  model: string
  choices: {
    index: number
    delta: { role?: string; content?: string; tool_calls?: ToolCallDelta[] }
    logprobs: { content: object[] } | null
    finish_reason: string | null
    token_ids?: number[]
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
  prompt_token_ids?: number[]
  error?: { message: string; code: number }
}

interface ToolCallDelta {
  id?: string
  function: { name?: string; arguments?: string }
}

/** Far more tokens than are generated while a test acts. */
const LONG = { ignore_eos: true, max_tokens: 2000 }

function stream(fields: object, signal?: AbortSignal): Promise<Response> {
  const defaults = { messages: [{ role: 'user', content: 'What is 2 + 3?' }], temperature: 0, max_tokens: 24 }
  return fetch(`${chatServer().url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${chatServer().key}` },
    body: JSON.stringify({ ...defaults, stream: true, ...fields }),
    ...(signal && { signal }),
  })
}

/** All chunks of a stream that must succeed. */
async function chunksOf(fields: object): Promise<Chunk[]> {
  const response = await stream(fields)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const events = text.split('\n\n')
  expect(events.splice(-2)).toEqual(['data: [DONE]', ''])
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk)
}

const contentOf = (chunks: Chunk[], index = 0): string =>
  chunks
    .flatMap(({ choices }) => choices)
    .filter((choice) => choice.index === index)
    .map(({ delta }) => delta.content ?? '')
    .join('')

describe('POST /v1/chat/completions as a stream', () => {
  it('200 with a role first, then text, then the reason for its end', async () => {
    const chunks = await chunksOf({})
    const [first, ...rest] = chunks
    expect(first).toMatchObject({ object: 'chat.completion.chunk', model: 'heddle/loom-tiny' })
    expect(first?.choices).toMatchObject([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    ])
    expect(rest.slice(0, -1).map(({ choices }) => choices[0]?.finish_reason)).not.toContain('stop')
    expect(rest.at(-1)?.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: null })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(rest.at(-1)).toMatchObject({ system_fingerprint: expect.stringMatching(/^vllm-/) })
    for (const chunk of chunks) expect(chunk).not.toHaveProperty('usage')
    const whole = (await (await stream({ stream: false })).json()) as { choices: [{ message: object }] }
    expect(whole.choices[0].message).toMatchObject({ content: contentOf(chunks) })
  })

  it('200 with usage at the end on request, and with each chunk on request', async () => {
    for (const stream_options of [{}, { include_usage: true }, { include_usage: null }]) {
      const last = (await chunksOf({ stream_options })).at(-1)
      expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 22, completion_tokens: 7 } })
    }
    for (const options of [
      { include_usage: false },
      { include_usage: false, continuous_usage_stats: true },
    ]) {
      for (const chunk of await chunksOf({ stream_options: options }))
        expect(chunk).not.toHaveProperty('usage')
    }
    const counted = await chunksOf({ stream_options: { continuous_usage_stats: true } })
    expect(counted.map(({ usage }) => usage?.completion_tokens)).toEqual(
      counted.map(({ usage }) => usage?.completion_tokens).sort((a = 0, b = 0) => a - b),
    )
    for (const { usage } of counted) expect(usage?.prompt_tokens).toBe(22)
  })

  it('200 with the deltas of a tool call', async () => {
    const messages = [{ role: 'user', content: WEATHER_QUESTION }]
    const chunks = await chunksOf({ tools: [WEATHER_TOOL], messages, max_tokens: 100 })
    const deltas = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
    expect(deltas[0]).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-tool-/),
      function: { name: 'get_weather' },
    })
    const text = deltas.map((delta) => delta.function.arguments ?? '').join('')
    expect(JSON.parse(text)).toEqual({ city: 'Paris' })
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls')
  })

  it('200 with several answers side by side, token ids and logprobs', async () => {
    const fields = { n: 2, temperature: 1, seed: 1, logprobs: true, return_token_ids: true }
    const chunks = await chunksOf(fields)
    expect(chunks[0]?.prompt_token_ids).toHaveLength(22)
    for (const index of [0, 1]) {
      const own = chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
      expect(own[0]?.delta.role).toBe('assistant')
      const ids = own.flatMap((choice) => choice.token_ids ?? [])
      expect(own.flatMap((choice) => choice.logprobs?.content ?? [])).toHaveLength(ids.length)
      expect(own.at(-1)?.finish_reason).toMatch(/stop|length/)
    }
  })

  it('400, 404 and 422 as plain JSON', async () => {
    const refusals = [
      { temperature: 9, status: 400 },
      { model: 'nobody', status: 404 },
      { n: 'x', status: 422 },
    ]
    for (const { status, ...fields } of refusals) {
      const response = await stream(fields)
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: { code: status } })
    }
  })

  it('the first token arrives while the engine makes the others, and a client that disconnects ends them', async () => {
    const before = await engineMetric(chatServer(), 'generation_tokens_total')
    const client = new AbortController()
    const reader = (await stream(LONG, client.signal)).body?.getReader()
    for (let chunks = 0; chunks < 3; chunks++) expect((await reader?.read())?.done).toBe(false)
    client.abort()
    await until(async () =>
      (await engineMetric(chatServer(), 'num_requests_running')) === 0 ? true : undefined,
    )
    // It was aborted before its end.
    expect((await engineMetric(chatServer(), 'generation_tokens_total')) - before).toBeLessThan(1500)
  })

  it('a client that disconnects while it waits for a whole reply ends its tokens as well', async () => {
    const before = await engineMetric(chatServer(), 'generation_tokens_total')
    const client = new AbortController()
    const gone = stream({ ...LONG, stream: false }, client.signal).catch(() => 'gone')
    await until(async () =>
      (await engineMetric(chatServer(), 'num_requests_running')) === 1 ? true : undefined,
    )
    client.abort()
    expect(await gone).toBe('gone')
    await until(async () =>
      (await engineMetric(chatServer(), 'num_requests_running')) === 0 ? true : undefined,
    )
    expect((await engineMetric(chatServer(), 'generation_tokens_total')) - before).toBeLessThan(1500)
  })

  it('an engine that is killed in the middle: an error, an end, and answers again after its restart', async () => {
    const response = await stream(LONG)
    const reader = response.body?.getReader()
    let text = Buffer.from((await reader?.read())?.value ?? []).toString()
    const killed = engineProcesses()
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      text += Buffer.from(next.value).toString()
    const events = text.trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(JSON.parse(events.at(-2)?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code: 503, message: expect.stringMatching(/inference heddle\/loom-tiny ended/) },
    })
    // Another server may have one that still takes a request while it ends.
    await until(() => (engineProcesses().some((pid) => killed.includes(pid)) ? undefined : true))
    const again = await until(() => chunksOf({}).catch(() => undefined))
    expect(contentOf(again)).toBe('The answer is 5.')
  })
})

const engineProcesses = (): number[] => chatServer().processes('engine.inference.api_server')
