import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { eventually } from '../test-eventually.ts'
import { group } from './test-group.ts'
import { json, useTrainingServer } from './use-training-server.ts'

const training = useTrainingServer()
const { server, newModel, postJob, startJob, events, end, steps, batches, weightsOf } = training

describe('POST /v1/preview/models', () => {
  it('200 with the same model again, an entity and a run_id that is the name', async () => {
    const name = randomUUID()
    const model = await newModel(name)
    expect(model).toMatchObject({ entity: 'local', run_id: name, base_model: TEST_BASE_MODEL })
    expect(await newModel(name)).toEqual(model)
    expect(await steps(model.id)).toEqual([0])
  })

  it('409 for a name that is taken, unless return_existing is set', async () => {
    const { name } = await newModel()
    const taken = await server.post('/v1/preview/models', {
      project: 'proj',
      name,
      base_model: TEST_BASE_MODEL,
    })
    expect(taken.status).toBe(409)
  })

  it('400 with the nearest names for a base model that does not exist, and nothing is started', async () => {
    const body = { project: 'proj', name: randomUUID(), base_model: 'missing/tset' }
    const response = await server.post('/v1/preview/models', body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(
      'There is no base model missing/tset: made to be missing. Near that name: test/base',
    )
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

  it('200 without groups: the job does not train, and the step still advances', async () => {
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
    expect(await weightsOf(`local/proj/${model.name}`)).toBe('B=0+1+2')
  })

  it.each([
    ['fail', 0, /^ValueError: made to fail\. The last checkpoint is step 0\.$/],
    ['die', 2, /trainer test\/base ended: exit code 1; its last output: MemoryError: made to die.*shorter/],
  ])(
    '200, then training_failed with a cause when the worker is made to %s; the next job goes on',
    async (fake, resumed, cause) => {
      const model = await newModel()
      const seen = await end(await startJob(model.id, [group(fake)]))
      const types = seen.map((event) => event.type)
      expect(types.filter((type) => type === 'training_started')).toHaveLength(1)
      expect(types.filter((type) => type === 'training_resumed')).toHaveLength(resumed)
      expect(types.at(-1)).toBe('training_failed')
      expect(seen.at(-1)?.data['error_message']).toMatch(cause)
      expect((await end(await startJob(model.id, [group()]))).at(-1)?.type).toBe('training_ended')
      expect(await steps(model.id)).toEqual([0, 1])
    },
  )

  it('200, and goes on with the next worker when one dies: every step is reported once', async () => {
    const model = await newModel()
    const seen = await end(await startJob(model.id, [group('die-once'), group()]))
    expect(seen.map((event) => event.type)).toEqual([
      'training_started',
      'gradient_step',
      'training_resumed',
      'gradient_step',
      'training_ended',
    ])
    expect(await steps(model.id)).toEqual([0, 1])
  })

  it('200, and goes on however often workers end, as long as each comes to a further step', async () => {
    const model = await newModel()
    const groups = [group('die-after-each'), ...Array.from({ length: 5 }, () => group())]
    const job = await startJob(model.id, groups)
    const types = (await end(job)).map((event) => event.type)
    expect(types.filter((type) => type === 'training_resumed')).toHaveLength(5)
    expect(types.filter((type) => type === 'gradient_step')).toHaveLength(6)
    expect(types.at(-1)).toBe('training_ended')
  })

  it('200, with one warning for each deviation from on-policy training', async () => {
    const model = await newModel()
    const biased = { ...group(), metrics: { 'on_policy/tokens_biased_by_top_p': 3 } }
    const seen = await end(await startJob(model.id, [biased, biased]))
    const warnings = seen.filter((event) => event.type === 'on_policy_warning')
    expect(warnings.map((event) => event.data['code'])).toEqual(['biased_by_top_p'])
  })

  it('200, with one warning for data that is left out', async () => {
    const model = await newModel()
    const without = { ...group(), metrics: { num_trajectories_without_reasoning: 2 } }
    const seen = await end(await startJob(model.id, [without, group(), without]))
    const warnings = seen.filter((event) => event.type === 'data_warning')
    expect(warnings.map((event) => event.data)).toEqual([
      expect.objectContaining({ code: 'reasoning_left_out', value: 2, threshold: 0 }),
    ])
  })

  it.each([
    [
      'a group of another shape',
      async () => (await newModel()).id,
      [{ trajectories: [{ reward: 'high', messages_and_choices: [] }] }],
      422,
    ],
    ['a model that is not there', async () => randomUUID(), [group()], 404],
  ])('refuses %s, and nothing stays', async (_what, modelId, groups, status) => {
    const before = batches()
    const response = await postJob(await modelId(), groups)
    expect(response.status).toBe(status)
    expect(batches()).toEqual(before)
  })

  it('422 that names the group and the field', async () => {
    const trajectories = [{ messages_and_choices: [], reward: 'high' }]
    const response = await postJob((await newModel()).id, [group(), { trajectories }])
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      detail: [
        { type: 'float_type', loc: ['body', 'trajectory_groups', '1', 'trajectories', '0', 'reward'] },
      ],
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

  it('drops a body whose client disconnects in the middle', async () => {
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
    expect(readdirSync(`${training.folder}/blobs/.aside`)).toEqual([])
  })
})

describe('GET /v1/preview/training-jobs and /v1/preview/training-jobs/{training_job_id}', () => {
  interface Job {
    id: string
    state: string
    queue_position: number | null
    started_at: string
    counts: Record<string, number>
  }
  const read = async (id: string): Promise<Job> =>
    json(await server.request(`/v1/preview/training-jobs/${id}`))

  it('200 with the place of each waiting job: models take turns, in the order in which they then run', async () => {
    const [one, other] = [await newModel(), await newModel()]
    const running = await startJob(one.id, [group('wait')])
    await eventually(async () => expect((await events(running)).data).toHaveLength(1))
    const waiting = [
      await startJob(one.id, [group()]),
      await startJob(one.id, [group()]),
      await startJob(other.id, [group()]),
    ]
    const places = await Promise.all(waiting.map(async (id) => (await read(id)).queue_position))
    expect(places).toEqual([2, 3, 1])
    expect((await read(running)).queue_position).toBeNull()
    await server.request(`/v1/preview/training-jobs/${running}/cancel`, { method: 'POST' })
    for (const job of waiting) await end(job)
    const [first = '', second = '', third = ''] = await Promise.all(
      waiting.map(async (id) => (await read(id)).started_at),
    )
    expect([first, second, third].sort()).toEqual([third, first, second])
  })

  it('200 page by page, by model and state, newest first', async () => {
    const model = await newModel()
    const jobs = [await startJob(model.id, [group(), group()]), await startJob(model.id, [group('fail')])]
    for (const job of jobs) await end(job)
    const list = async (query: string): Promise<{ data: Job[]; has_more: boolean }> =>
      json(await server.request(`/v1/preview/training-jobs?model_id=${model.id}${query}`))
    expect((await list('')).data.map((job) => job.id)).toEqual(jobs.toReversed())
    expect((await list('&state=failed')).data.map((job) => job.id)).toEqual([jobs[1]])
    const page = await list('&limit=1')
    expect(page).toMatchObject({ has_more: true, data: [{ id: jobs[1] }] })
    expect((await list(`&after=${jobs[1]}`)).data).toMatchObject([
      { id: jobs[0], state: 'succeeded', counts: { groups: 2, trajectories: 2, gradient_steps: 2 } },
    ])
    expect((await server.request('/v1/preview/training-jobs?state=lost')).status).toBe(422)
  })
})

describe('GET /v1/preview/models and /v1/preview/models/{model_id}', () => {
  it('200 page by page with the shape of the adapters; 404 for an unknown one', async () => {
    const lora = { rank: 4, target_modules: ['q_proj', 'q_proj'] }
    const model = await newModel(randomUUID(), {
      project: 'listed',
      lora,
      best_metric: 'val/loss',
      best_mode: 'min',
    })
    const shown = {
      id: model.id,
      lora: { rank: 4, alpha: 16, target_modules: ['q_proj'], seed: 3407 },
      best_metric: 'val/loss',
      best_mode: 'min',
    }
    expect(await json(await server.request('/v1/preview/models?project=listed'))).toMatchObject({
      data: [shown],
    })
    expect(await json(await server.request(`/v1/preview/models/${model.id}`))).toMatchObject(shown)
    expect((await server.request(`/v1/preview/models/${randomUUID()}`)).status).toBe(404)
  })

  it('400 for adapters that the engine would not take, 409 for another shape under the same name', async () => {
    const body = { project: 'proj', name: randomUUID(), base_model: TEST_BASE_MODEL, return_existing: true }
    const register = (lora: object) => server.post('/v1/preview/models', { ...body, lora })
    expect((await register({ rank: 64 })).status).toBe(400)
    expect((await register({ rank: 0 })).status).toBe(422)
    const refused = await register({ target_modules: ['q_proj', 'missing'] })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({ detail: 'there are no layers missing' })
    expect((await register({ rank: 4 })).status).toBe(200)
    expect((await register({ rank: 4 })).status).toBe(200)
    expect((await register({ rank: 8 })).status).toBe(409)
  })

  it('422 for a base model that no file could be, and for half a character', async () => {
    const body = { project: 'proj', name: randomUUID(), base_model: TEST_BASE_MODEL }
    for (const odd of [
      { base_model: 'a\0b' },
      { name: 'a\ud800' },
      { project: '\udc00' },
      { lora: { target_modules: ['q_proj', '\ud800'] } },
    ])
      expect((await server.post('/v1/preview/models', { ...body, ...odd })).status).toBe(422)
  })
})

describe('POST /v1/preview/training-jobs/{training_job_id}/cancel', () => {
  it('200: a running job and a waiting one end once, and no step is made', async () => {
    const model = await newModel()
    const [running, waiting] = [
      await startJob(model.id, [group('wait')]),
      await startJob(model.id, [group()]),
    ]
    await eventually(async () => expect((await events(running)).data).toHaveLength(1))
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

  it('200 each time it is sent; numbers are never used again', async () => {
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
  it('200 twice, 404 for one that never existed; its open job ends', async () => {
    const model = await newModel()
    const job = await startJob(model.id, [group('wait')])
    await eventually(async () => expect((await events(job)).data).toHaveLength(1))
    const remove = (id: string) => server.request(`/v1/preview/models/${id}`, { method: 'DELETE' })
    expect(await json(await remove(model.id))).toMatchObject({ model_id: model.id, deleted_checkpoints: 1 })
    expect(await json(await remove(model.id))).toMatchObject({ deleted_checkpoints: 0 })
    expect((await remove(randomUUID())).status).toBe(404)
    const shown = await server.request(`/v1/preview/training-jobs/${job}`)
    expect(await json(shown)).toMatchObject({ model_id: model.id })
    expect((await end(job)).at(-1)?.data).toEqual({ error_message: 'The model was deleted' })
    expect((await server.request(`/v1/preview/models/${model.id}/checkpoints`)).status).toBe(404)
  })
})

describe('GET /v1/health', () => {
  it('200 without a key', async () => {
    const response = await server.request('/v1/health', { headers: { authorization: '' } })
    expect(await response.json()).toEqual({ status: 'ok' })
  })
})

describe('GET /v1/system-check', () => {
  it('200 without a key while the engine works', async () => {
    const response = await server.request('/v1/system-check', { headers: { authorization: '' } })
    expect(response.status).toBe(200)
    const memory = { memory_budget_bytes: expect.any(Number), memory_used_bytes: expect.any(Number) }
    const trainer = { name: 'trainer test/base', state: 'ready', users: 0 }
    expect(await response.json()).toMatchObject({
      api: true,
      database: { success: true },
      engine: { ...memory, parts: expect.arrayContaining([expect.objectContaining(trainer)]) },
    })
  })
})
