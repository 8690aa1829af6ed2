import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { useTestServer } from '../../testing.ts'
import { newTestModel } from '../test-models.ts'
import { acceleratorsIn } from './accelerators.ts'

const server = useTestServer({
  compute: openFakeCompute,
  inference: { projectLimits: { requestsMax: 3, tokensPerMinute: Number.POSITIVE_INFINITY } },
})

interface RouterModels {
  engines: { base_model: string; parts: { state: string }[]; answers: number; answers_max: number | null }[]
  requests: { in_flight: number; in_flight_max: number }
  limits: object
  memory: { budget_bytes: number }
}

async function get<Body>(path: string): Promise<Body> {
  const response = await server.request(path)
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Body
}

const newModel = async (): Promise<string> => (await newTestModel(server)).path

function chat(model: string, content: string, init: { stream?: boolean; signal?: AbortSignal } = {}) {
  const body = { model, messages: [{ role: 'user', content }], stream: init.stream ?? false }
  const headers = { 'openai-project': 'local/proj' }
  return server.request('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(body),
    headers,
    ...(init.signal && { signal: init.signal }),
  })
}

async function modelIn(path: string, id: string): Promise<Record<string, unknown> | undefined> {
  const { models } = await get<{ models: Record<string, unknown>[] }>(path)
  return models.find((model) => model['id'] === id)
}

describe('GET /inference/router/{any}/models', () => {
  const PATH = '/inference/router/anything/models'

  it('200 with base models and the models of the caller, and which of them are loaded', async () => {
    const model = await newModel()
    const cold = await modelIn(PATH, model)
    expect(cold).toMatchObject({ base_model: TEST_BASE_MODEL, steps: 1, newest_step: 0 })
    await (await chat(model, 'hi')).text()
    expect(await modelIn(PATH, model)).toMatchObject({ loaded: true, loaded_steps: [0] })
    expect(await modelIn(PATH, TEST_BASE_MODEL)).toMatchObject({ loaded: true, steps: null })
  })

  it('200 with the engines, the limits and the number of answers in progress', async () => {
    await (await chat(TEST_BASE_MODEL, 'hi')).text()
    const client = new AbortController()
    const held = chat(TEST_BASE_MODEL, 'hold', { signal: client.signal }).catch(() => {})
    await eventually(async () => {
      const busy = await get<RouterModels>(PATH)
      expect(busy.requests).toEqual({ in_flight: 1, in_flight_max: 2048 })
      expect(busy.engines).toMatchObject([
        {
          base_model: TEST_BASE_MODEL,
          parts: [{ name: `trainer ${TEST_BASE_MODEL}` }, { state: 'ready' }],
          answers: 1,
          answers_max: 256,
          waiting: 0,
        },
      ])
    })
    client.abort()
    await held
    await eventually(async () => {
      const idle = await get<RouterModels>(PATH)
      expect(idle.requests.in_flight).toBe(0)
      expect(idle.engines[0]?.answers).toBe(0)
      expect(idle.limits).toEqual({
        key: { requests_max: null, tokens_per_minute: null },
        project: { requests_max: 3, tokens_per_minute: null },
      })
      expect(idle.memory.budget_bytes).toBeGreaterThan(0)
    })
  })
})

describe('GET /inference/analysis/{any}/models', () => {
  const PATH = '/inference/analysis/anything/models'

  it('200 with how fast each model has answered, streams apart', async () => {
    const model = await newModel()
    expect(await modelIn(PATH, model)).toEqual({ id: model, base_model: TEST_BASE_MODEL, speeds: null })
    await (await chat(`${model}:step0`, 'hi')).text()
    const speed = { p50: expect.any(Number), p95: expect.any(Number) }
    expect(await modelIn(PATH, model)).toMatchObject({
      speeds: { answers: 1, duration_ms: speed, time_to_first_token_ms: null, tokens_per_second: speed },
    })
    await (await chat(model, 'hi', { stream: true })).text()
    expect(await modelIn(PATH, model)).toMatchObject({
      speeds: { answers: 2, time_to_first_token_ms: speed },
    })
  })

  it('200 counting no answer that was refused', async () => {
    const model = await newModel()
    expect((await chat(model, 'refuse')).status).toBe(400)
    expect(await modelIn(PATH, model)).toMatchObject({ speeds: null })
  })
})

describe('GET /inference/{any}/v2/hardware', () => {
  it('200 with the machine, the memory of engines and versions', async () => {
    const found = await get('/inference/anything/v2/hardware')
    expect(found).toMatchObject({
      cpu: { cores: expect.any(Number) },
      engine_memory: { budget_bytes: expect.any(Number) },
      versions: { node: process.versions.node, heddle: expect.stringMatching(/^\d/) },
      engine_packages: { transformers: expect.stringMatching(/^\d/), peft: expect.stringMatching(/^\d/) },
    })
  })
})

describe('acceleratorsIn', () => {
  it('reads a line for each GPU and skips other lines', () => {
    const csv = 'NVIDIA H200, 143771, 4, 570.86.15\nUnable to determine the device handle\n'
    expect(acceleratorsIn(csv)).toEqual([
      {
        name: 'NVIDIA H200',
        memory_bytes: 143_771 * 1024 ** 2,
        memory_used_bytes: 4 * 1024 ** 2,
        driver: '570.86.15',
      },
    ])
  })
})
