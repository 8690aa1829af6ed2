import { describe, expect, it } from 'vitest'
import { HANGING_MS, openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { useTestServer } from '../../testing.ts'
import { newTestModel } from '../test-models.ts'

const server = useTestServer({ compute: openFakeCompute })

function chat(fields: object, content = 'hi', asked = server): Promise<Response> {
  return asked.post('/v1/chat/completions', { messages: [{ role: 'user', content }], ...fields })
}

/** The fake engine answers with the weights it used and the request it got. */
async function seen(response: Response): Promise<{ weights: string; request: Record<string, unknown> }> {
  expect(response.status, await response.clone().text()).toBe(200)
  const reply = (await response.json()) as { choices: { message: { content: string } }[] }
  const content = reply.choices[0]?.message.content ?? ''
  const at = content.indexOf(': ')
  return {
    weights: content.slice(0, at),
    request: JSON.parse(content.slice(at + 2)) as Record<string, unknown>,
  }
}

const newModel = () => newTestModel(server)

async function trainOnce(model: { id: string }): Promise<void> {
  const body = { model_id: model.id, trajectory_groups: [{ trajectories: [] }] }
  const job = (await (await server.post('/v1/preview/training-jobs', body)).json()) as { id: string }
  await eventually(async () => {
    const response = await server.request(`/v1/preview/training-jobs/${job.id}`)
    expect(await response.json()).toMatchObject({ state: 'succeeded' })
  })
}

describe('POST /v1/chat/completions', () => {
  it('200 for the base model, which has no adapter', async () => {
    for (const model of [TEST_BASE_MODEL, null, undefined]) {
      expect((await seen(await chat({ model }))).weights).toBe('no adapter')
    }
  })

  it('200 for every way to name a model; each step has its own weights', async () => {
    const model = await newModel()
    await trainOnce(model)
    const weightsOf = async (name: string) => (await seen(await chat({ model: name }))).weights
    const path = `local/proj/${model.name}`
    for (const name of [`wandb-artifact:///${path}`, path, model.name, `${path}:latest`, `${path}:step1`]) {
      expect(await weightsOf(name), name).toBe('B=0+1')
    }
    for (const name of [`wandb-artifact:///${path}:step0`, `${model.name}@0`, `${model.name}:step0`]) {
      expect(await weightsOf(name), name).toBe('B=0')
    }
    for (const name of [
      `${path}:step2`,
      `${path}@7`,
      `${path}:v9`,
      'nobody',
      'a/b',
      'wandb-artifact:///',
      ':step0',
    ]) {
      const response = await chat({ model: name })
      expect(response.status, name).toBe(404)
      expect(await response.json()).toMatchObject({
        error: { type: 'NotFoundError', param: 'model', code: 404 },
      })
    }
  })

  it('200 with the requested name, and reasoning under both names', async () => {
    const response = await server.post('/v1/chat/completions/', {
      messages: [{ role: 'user', content: 'hi' }],
      model: TEST_BASE_MODEL,
    })
    expect(await response.json()).toMatchObject({
      model: TEST_BASE_MODEL,
      choices: [{ message: { reasoning: 'why', reasoning_content: 'why' } }],
    })
  })

  it('passes on known fields, without nulls, and requests token ids from a trained model', async () => {
    const model = await newModel()
    const fields = {
      temperature: null,
      top_k: 3,
      banana: 1,
      seed: 9223372036854776000,
      logprobs: true,
      user: 'me',
    }
    const { request } = await seen(await chat({ model: model.name, ...fields }))
    expect(request).toMatchObject({ top_k: 3, logprobs: true, return_tokens_as_token_ids: true })
    for (const key of ['temperature', 'banana', 'user']) expect(request).not.toHaveProperty(key)
    expect(Number(request['seed'])).toBeLessThan(2 ** 63)
    const own = await seen(
      await chat({ model: model.name, logprobs: true, return_tokens_as_token_ids: false }),
    )
    expect(own.request['return_tokens_as_token_ids']).toBe(false)
  })

  it('200 as a stream under the requested name, ended by [DONE]', async () => {
    const response = await chat({ model: TEST_BASE_MODEL, stream: true })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const events = (await response.text()).trim().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    const chunks = events
      .slice(0, -1)
      .map((event) => JSON.parse(event.slice('data: '.length)) as { model: string })
    expect(chunks.map((chunk) => chunk.model)).toEqual([TEST_BASE_MODEL, TEST_BASE_MODEL])
  })

  it('400 in the words of the engine', async () => {
    const response = await chat({}, 'refuse')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: 'made to refuse', param: 'stop', code: 400 },
    })
  })

  it.each([
    { logits_processors: ['x'] },
    { media_io_kwargs: { video: { num_frames: 4 } } },
    { return_token_offsets: true },
    { stream_interval: 4 },
    { watermarking: true },
    { priority: 1 },
    { mm_processor_kwargs: { a: 1 } },
    { structured_outputs: { json: {}, disable_any_whitespace: true } },
    { structured_outputs: { json: {}, whitespace_pattern: ' ' } },
    { structured_outputs: { regex: 'a', disable_fallback: true } },
    { structured_outputs: { regex: 'a', _backend: 'guidance' } },
    { structured_outputs: { regex: 'a' }, guided_choice: ['a'] },
  ])('400 rather than silence for %j', async (fields) => {
    expect((await chat(fields)).status).toBe(400)
  })

  it('422 that names the message with half a character', async () => {
    for (const content of ['\ud800', [{ type: 'text', text: 'a\udfff' }]]) {
      const messages = [
        { role: 'user', content: '\u{1f600}' },
        { role: 'user', content },
      ]
      const response = await server.post('/v1/chat/completions', { model: TEST_BASE_MODEL, messages })
      expect(response.status).toBe(422)
      expect(await response.text()).toMatch(/"messages","1","content".*a surrogate without its other half/)
    }
  })

  it('422 with detail and error for a wrong type', async () => {
    const response = await chat({ max_tokens: 'many' })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      detail: [{ type: expect.stringMatching(/_type$/), loc: ['body', 'max_tokens'] }],
      error: { code: 422, param: 'max_tokens' },
    })
  })
})

describe('POST /v1/chat/completions of an engine that is lost', () => {
  const lost = useTestServer({ compute: (folder) => openFakeCompute(folder, { stallMs: HANGING_MS }) })

  it('503 when it fails, dies or hangs in the middle; then it answers again', async () => {
    for (const how of ['fail', 'die', 'hang']) {
      const response = await chat({}, how, lost)
      expect(response.status, how).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await seen(await chat({}, 'hi', lost))).weights).toBe('no adapter')
    }
  })
})
