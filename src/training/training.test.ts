import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL, useTestServer } from '../testing.ts'

let folder = ''
const server = useTestServer({
  compute: (path) => {
    folder = path
    return openFakeCompute(path)
  },
})

interface Event {
  id: string
  type: string
  data: Record<string, unknown>
}

async function json<Body>(response: Response): Promise<Body> {
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Body
}

async function newModel(name: string = randomUUID()): Promise<{ id: string; name: string; entity: string }> {
  const body = { entity: null, project: 'proj', name, base_model: TEST_BASE_MODEL, return_existing: true }
  return json(await server.post('/v1/preview/models', body))
}

function group(fake?: string): object {
  const choice = {
    finish_reason: 'stop',
    index: 0,
    logprobs: {
      content: [{ token: 'token_id:13', bytes: [104], logprob: -0.5, top_logprobs: [] }],
      refusal: null,
    },
    message: { content: 'a ] , " \\ { b', role: 'assistant' },
  }
  const trajectory = {
    messages_and_choices: [{ role: 'user', content: 'hi' }, choice],
    reward: 1,
    tools: null,
  }
  return { trajectories: [trajectory], exceptions: [], metadata: {}, ...(fake !== undefined && { fake }) }
}

function postJob(model_id: string, groups: object[], config: object | null = null): Promise<Response> {
  return server.post('/v1/preview/training-jobs', {
    model_id,
    trajectory_groups: groups,
    experimental_config: config,
  })
}

async function startJob(modelId: string, groups: object[]): Promise<string> {
  return (await json<{ id: string }>(await postJob(modelId, groups))).id
}

async function events(jobId: string, query = '?limit=100'): Promise<{ data: Event[]; has_more: boolean }> {
  return json(await server.request(`/v1/preview/training-jobs/${jobId}/events${query}`))
}

async function end(jobId: string): Promise<Event[]> {
  return vi.waitFor(
    async () => {
      const { data } = await events(jobId)
      expect(data.at(-1)?.type).toMatch(/^training_(ended|failed)$/)
      return data
    },
    { timeout: 20_000 },
  )
}

async function steps(modelId: string, query = ''): Promise<number[]> {
  const path = `/v1/preview/models/${modelId}/checkpoints${query}`
  const page = await json<{ data: { step: number }[] }>(await server.request(path))
  return page.data.map((checkpoint) => checkpoint.step)
}

const batches = (): string[] => readdirSync(`${folder}/blobs/trajectory-groups`).sort()

describe('POST /v1/preview/models', () => {
  it('200 with the same model again, an entity and a run_id that is the name', async () => {
    const name = randomUUID()
    const model = await newModel(name)
    expect(model).toMatchObject({ entity: 'local', run_id: name, base_model: TEST_BASE_MODEL })
    expect(await newModel(name)).toEqual(model)
    expect(await steps(model.id)).toEqual([0])
  })

  it('409 for a name that is taken, unless return_existing says that is fine', async () => {
    const { name } = await newModel()
    const taken = await server.post('/v1/preview/models', {
      project: 'proj',
      name,
      base_model: TEST_BASE_MODEL,
    })
    expect(taken.status).toBe(409)
  })

  it('422 for a name that could not be called', async () => {
    const body = { project: 'proj', name: 'a/b', base_model: TEST_BASE_MODEL }
    expect((await server.post('/v1/preview/models', body)).status).toBe(422)
  })
})

describe('POST /v1/preview/training-jobs', () => {
  it('200, then events in order, then one more step', async () => {
    const model = await newModel()
    const job = await startJob(model.id, [group(), group()])
    const seen = await end(job)
    expect(seen.map(({ type, data }) => [type, data])).toEqual([
      ['training_started', { num_sequences: 2 }],
      ['gradient_step', { loss: 1 }],
      ['gradient_step', { loss: 0.5 }],
      ['training_ended', {}],
    ])
    expect(await steps(model.id, '?limit=1&order=desc')).toEqual([1])
    expect(await json(await server.request(`/v1/preview/training-jobs/${job}`))).toMatchObject({
      state: 'succeeded',
      checkpoint_step: 1,
      error_message: null,
    })
  })

  it('200 for no groups at all: nothing is trained, and the step still advances', async () => {
    const model = await newModel()
    expect((await end(await startJob(model.id, []))).map((event) => event.type)).toEqual([
      'training_started',
      'training_ended',
    ])
    expect(await steps(model.id)).toEqual([0, 1])
  })

  it('200 for two jobs at once: they run in order, each from the step before', async () => {
    const model = await newModel()
    const jobs = [await startJob(model.id, [group()]), await startJob(model.id, [group(), group()])]
    for (const job of jobs) await end(job)
    const chat = { model: `local/proj/${model.name}`, messages: [{ role: 'user', content: 'hi' }] }
    const reply = await json<{ choices: { message: { content: string } }[] }>(
      await server.post('/v1/chat/completions', chat),
    )
    expect(reply.choices[0]?.message.content).toMatch(/^B=0\+1\+2:/)
  })

  it.each([
    ['fail', /^ValueError: made to fail\. The last checkpoint is step 0\.$/],
    ['die', /trainer test\/base ended: exit code 1; its last words: MemoryError: made to die/],
    ['hang', /it hung: no progress for 1.5 s/],
  ])(
    '200, then training_failed with a cause when the worker is made to %s; the next job goes on',
    async (fake, cause) => {
      const model = await newModel()
      const seen = await end(await startJob(model.id, [group(fake)]))
      expect(seen.map((event) => event.type)).toEqual(['training_started', 'training_failed'])
      expect(seen[1]?.data['error_message']).toMatch(cause)
      expect((await end(await startJob(model.id, [group()]))).at(-1)?.type).toBe('training_ended')
      expect(await steps(model.id)).toEqual([0, 1])
    },
  )

  it.each([
    ['a group of another shape', [{ trajectories: [{ reward: 'high', messages_and_choices: [] }] }], 422],
    ['a model that is not there', [group()], 404],
  ])('refuses %s, and nothing stays', async (_what, groups, status) => {
    const before = batches()
    const response = await postJob(randomUUID(), groups)
    expect(response.status).toBe(status)
    expect(batches()).toEqual(before)
  })

  it('422 that names the group and the field', async () => {
    const response = await postJob(randomUUID(), [group(), { trajectories: [{ messages_and_choices: [] }] }])
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      detail: [{ type: 'missing', loc: ['body', 'trajectory_groups', 1, 'trajectories', 0, 'reward'] }],
    })
  })

  it.each([
    '',
    '{',
    '[]',
    '{"trajectory_groups": [}',
    '{"trajectory_groups": [1,]}',
    '{"trajectory_groups": {}}',
  ])('422 for the body %j', async (body) => {
    const response = await server.request('/v1/preview/training-jobs', { method: 'POST', body })
    expect(response.status).toBe(422)
  })

  it('forgets a body whose client goes away in the middle', async () => {
    const before = batches()
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"trajectory_groups": [{"trajectories": []}, '))
        controller.error(new Error('gone'))
      },
    })
    const request = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect((await server.request('/v1/preview/training-jobs', request)).status).toBeGreaterThanOrEqual(400)
    expect(batches()).toEqual(before)
    expect(readdirSync(`${folder}/blobs/.aside`)).toEqual([])
  })
})

describe('POST /v1/preview/training-jobs/{training_job_id}/cancel', () => {
  it('200: a running job and a waiting one end once, and no step is made', async () => {
    const model = await newModel()
    const [running, waiting] = [
      await startJob(model.id, [group('wait')]),
      await startJob(model.id, [group()]),
    ]
    await vi.waitFor(async () => expect((await events(running)).data).toHaveLength(1))
    for (const job of [waiting, running, running]) {
      await server.request(`/v1/preview/training-jobs/${job}/cancel`, { method: 'POST' })
    }
    expect((await end(running)).map((event) => event.type)).toEqual(['training_started', 'training_failed'])
    expect((await end(waiting)).map((event) => event.type)).toEqual(['training_failed'])
    expect(await steps(model.id)).toEqual([0])
  })
})

describe('GET /v1/preview/training-jobs/{training_job_id}/events', () => {
  it('200 page by page; a cursor stays good for ever', async () => {
    const model = await newModel()
    const job = await startJob(model.id, [group(), group(), group()])
    const all = await end(job)
    const first = await events(job, '?limit=2')
    expect(first).toMatchObject({ has_more: true, data: all.slice(0, 2) })
    for (let again = 0; again < 2; again++) {
      const rest = await events(job, `?after=${first.data[1]?.id}`)
      expect(rest).toMatchObject({ has_more: false, data: all.slice(2) })
    }
    expect(await events(job, `?after=${all.at(-1)?.id}`)).toMatchObject({
      data: [],
      has_more: false,
      first_id: '',
    })
  })

  it('404 for an unknown job, 422 for a limit out of bounds', async () => {
    const path = `/v1/preview/training-jobs/${randomUUID()}/events`
    expect((await server.request(path)).status).toBe(404)
    expect((await server.request(`${path}?limit=101`)).status).toBe(422)
  })
})

describe('DELETE /v1/preview/models/{model_id}/checkpoints', () => {
  const remove = (id: string, wanted: number[]) =>
    server.request(`/v1/preview/models/${id}/checkpoints`, {
      method: 'DELETE',
      body: JSON.stringify({ steps: wanted }),
    })

  it('200 as often as it is sent; numbers are never used again', async () => {
    const model = await newModel()
    for (let job = 0; job < 2; job++) await end(await startJob(model.id, [group()]))
    expect(await json(await remove(model.id, [0, 2, 7]))).toEqual({ deleted_count: 2, not_found_steps: [7] })
    expect(await json(await remove(model.id, [0, 2]))).toEqual({ deleted_count: 0, not_found_steps: [0, 2] })
    expect(await steps(model.id)).toEqual([1])
    await end(await startJob(model.id, [group()]))
    expect(await steps(model.id)).toEqual([1, 3])
  })
})

describe('GET /v1/preview/models/{model_id}/checkpoints', () => {
  it('200 by step, both ways, also past a cursor that has been deleted', async () => {
    const model = await newModel()
    for (let job = 0; job < 2; job++) await end(await startJob(model.id, []))
    const path = `/v1/preview/models/${model.id}/checkpoints`
    const page = await json<{ data: { id: string }[] }>(await server.request(`${path}?limit=2`))
    const cursor = page.data[1]?.id
    await server.request(path, { method: 'DELETE', body: '{"steps":[1]}' })
    expect(await steps(model.id, `?after=${cursor}`)).toEqual([2])
    expect(await steps(model.id, '?order=desc')).toEqual([2, 0])
  })
})

describe('DELETE /v1/preview/models/{model_id}', () => {
  it('200 twice, 404 for one that never was; its open job ends', async () => {
    const model = await newModel()
    const job = await startJob(model.id, [group('wait')])
    await vi.waitFor(async () => expect((await events(job)).data).toHaveLength(1))
    const remove = (id: string) => server.request(`/v1/preview/models/${id}`, { method: 'DELETE' })
    expect(await json(await remove(model.id))).toMatchObject({ model_id: model.id, deleted_checkpoints: 1 })
    expect(await json(await remove(model.id))).toMatchObject({ deleted_checkpoints: 0 })
    expect((await remove(randomUUID())).status).toBe(404)
    expect((await end(job)).at(-1)?.data).toEqual({ error_message: 'The model was deleted' })
    expect((await server.request(`/v1/preview/models/${model.id}/checkpoints`)).status).toBe(404)
  })
})

describe('GET /v1/system-check', () => {
  it('200 without a key while the engine works', async () => {
    const response = await server.request('/v1/system-check', { headers: { authorization: '' } })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ api: true, database: { success: true } })
  })
})
