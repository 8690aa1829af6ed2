import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { KEY, runClient, startServer, type WireServer } from './server.ts'

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_ENGINE_PYTHON: pythonIn('engine') })
})
afterAll(() => server[Symbol.asyncDispose]())

function call(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}` }
  return fetch(`${server.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

async function json(response: Response): Promise<Record<string, never>> {
  return (await response.json()) as Record<string, never>
}

describe('PyPI openpipe-art and openai', () => {
  it('register, roll out, train, sample every step and delete, without a request that should not fail', async () => {
    const program = [
      pythonIn('clients'),
      clientProgram('art_basic.py'),
      server.url,
      KEY,
      `art-${randomUUID().slice(0, 8)}`,
    ]
    const seen = await runClient(program, { WANDB_BASE_URL: server.url })
    expect(seen).toMatchObject({
      same_id: true,
      name: expect.stringMatching(/^wandb-artifact:\/\/\/local\/wire\/art-/),
      first_step: 0,
      trained: [{ step: 1 }, { step: 2 }],
      stream: { text: seen['newest'], models: [`${String(seen['name'])}:step2`], usage: true },
      steps: { 0: 200, 1: 200, 2: 200, 3: 404 },
      unknown: 404,
      after_delete: { 0: 404, 1: 404, 2: 200 },
      untrainable_step: 3,
      after_model_delete: 404,
    })
    expect(seen['step_0_answer']).toBe(seen['base_answer'])
    const [first] = seen['trained'] as { metrics: Record<string, number> }[]
    expect(first?.metrics['data/step_num_gradient_steps']).toBeGreaterThan(0)
    expect(first?.metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-3)
    expect(first?.metrics['on_policy/tokens_without_logprobs']).toBe(0)
    const failed = (await server.takeRequests()).filter(({ status }) => status >= 400)
    expect(
      failed
        .map(({ path, status }) => `${status} ${path}`)
        .filter((line) => line !== '404 /v1/chat/completions'),
    ).toEqual([])
  })
})

describe('POST /v1/chat/completions', () => {
  const ask = (body: object) =>
    call('POST', '/v1/chat/completions', {
      model: 'heddle/loom-tiny',
      messages: [{ role: 'user', content: 'What is 2 + 2?' }],
      max_tokens: 4,
      ...body,
    })

  it('answers at the path with a trailing slash too', async () => {
    const response = await call('POST', '/v1/chat/completions/', {
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 2,
    })
    expect(response.status).toBe(200)
  })

  it('422 with a detail array and an error object for a wrong type', async () => {
    const response = await ask({ max_tokens: 'many' })
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({
      detail: [{ loc: ['body', 'max_tokens'], msg: expect.any(String) }],
      error: { message: expect.any(String), code: 422 },
    })
  })

  it('400 with an error object for a request that the engine refuses', async () => {
    const response = await ask({ top_logprobs: 3 })
    expect(response.status).toBe(400)
    expect(await json(response)).toMatchObject({
      error: { message: expect.stringContaining('top_logprobs') },
    })
  })

  it('401 without a key, before the body is looked at', async () => {
    const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body: 'nonsense' })
    expect(response.status).toBe(401)
    expect(await json(response)).toMatchObject({ error: { message: expect.any(String) } })
  })
})

describe('POST /v1/preview/training-jobs', () => {
  it('422 with the detail array for a body of another shape, 404 for an unknown model', async () => {
    const bad = await call('POST', '/v1/preview/training-jobs', {
      model_id: 'x',
      trajectory_groups: [{ trajectories: 1 }],
    })
    expect(bad.status).toBe(422)
    expect(await json(bad)).toMatchObject({
      detail: expect.arrayContaining([expect.objectContaining({ loc: expect.any(Array) })]),
    })
    const unknown = await call('POST', '/v1/preview/training-jobs', {
      model_id: randomUUID(),
      trajectory_groups: [],
    })
    expect(unknown.status).toBe(404)
  })
})
