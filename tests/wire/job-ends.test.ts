import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type WireServer } from './server.ts'
import { TRAINER_ALONE } from './trainer-alone.ts'
import { groups, trainingClient, trajectory } from './training-client.ts'
import { until } from './until.ts'

/** Groups of four trajectories of one turn each. */
const GROUPS = 4
const TRAJECTORIES = 16

let server: WireServer

beforeAll(async () => {
  server = await startServer(TRAINER_ALONE)
})
afterAll(() => server[Symbol.asyncDispose]())

const { request, call, newModel, startJob, eventsOf, end, newest } = trainingClient(() => server)

const group = (...trajectories: object[]) => ({ trajectories })

const user = { role: 'user', content: 'hi' }

/** Codes and counts. */
const dataWarnings = (events: { type: string; data: Record<string, unknown> }[]) =>
  events.filter((event) => event.type === 'data_warning').map(({ data }) => [data['code'], data['value']])

/** Runs the first job of a model, and returns how it ended. */
async function trained(given: object[], config: object = {}) {
  const model = await newModel()
  const job = await startJob(model.id, given, config)
  const last = await end(job)
  return { last, events: await eventsOf(job), checkpoint: await newest(model.id), model }
}

describe('a job without anything to train on', () => {
  it.each([
    ['no groups', [], []],
    ['groups of one trajectory', [group(trajectory(1)), group(trajectory(0))], []],
    ['equal rewards', [group(trajectory(0.1), trajectory(0.1), trajectory(0.1))], []],
    [
      'trajectories longer than the context',
      [group(trajectory(0, { tokens: 5000 }), trajectory(1, { tokens: 5000 }))],
      [
        ['nothing_trainable', 2],
        ['sequences_too_long', 2],
      ],
    ],
  ])('%s: ends well without a gradient step, and the step advances', async (_what, given, warnings) => {
    const { last, events, checkpoint } = await trained(given)
    expect(last.type).toBe('training_ended')
    expect(events[0]).toMatchObject({ type: 'training_started', data: { num_sequences: 0 } })
    expect(checkpoint).toMatchObject({ step: 1, metrics: { num_gradient_steps: 0 } })
    expect(dataWarnings(events)).toEqual(warnings)
  })

  it.each([
    ['too long', [user, { role: 'assistant', content: 'word '.repeat(5000) }], 'sequences_too_long'],
    ['without an assistant', [user], undefined],
  ])('SFT of conversations %s: ends well with a warning', async (_what, messages, reason) => {
    const model = await newModel()
    const uploaded = await call('POST', '/v1/preview/training-data', { messages })
    const body = { model_id: model.id, training_data_url: uploaded['training_data_url'] }
    const id = (await call('POST', '/v1/preview/sft-training-jobs', body))['id'] ?? ''
    expect((await end(id)).type).toBe('training_ended')
    const codes = dataWarnings(await eventsOf(id)).map(([code]) => code)
    expect(codes).toEqual(['nothing_trainable', ...(reason === undefined ? [] : [reason])])
  })

  it('reports how many sequences were too long', async () => {
    const { checkpoint, events } = await trained([group(trajectory(0, { tokens: 5000 }), trajectory(1))])
    expect(checkpoint.metrics['num_sequences_too_long']).toBe(1)
    expect(dataWarnings(events)).toEqual([['sequences_too_long', 1]])
  })
})

describe('logprobs', () => {
  it('missing: the trajectories are left out, unless the job allows them', async () => {
    const message = { role: 'assistant', content: 'hello' }
    const plain = (reward: number) => ({
      messages_and_choices: [{ role: 'user', content: 'hi' }, message],
      reward,
    })
    const without = await trained([group(plain(0), plain(1))])
    expect(without.checkpoint.metrics['num_gradient_steps']).toBe(0)
    expect(dataWarnings(without.events)).toEqual([['nothing_trainable', 2]])
    const allowed = await trained([group(plain(0), plain(1))], { allow_training_without_logprobs: true })
    expect(allowed.checkpoint.metrics['num_gradient_steps']).toBe(1)
    const warnings = allowed.events.filter((event) => event.type === 'on_policy_warning')
    expect(warnings.map((event) => event.data['code'])).toContain('missing_logprobs')
  })

  it('of a wrong type: 422 that names the token', async () => {
    const model = await newModel()
    const body = {
      model_id: model.id,
      trajectory_groups: [group(trajectory(1), trajectory(0, { tokens: 2, logprob: 'high' }))],
    }
    const response = await request('POST', '/v1/preview/training-jobs', body)
    expect(response.status).toBe(422)
    expect(await response.text()).toMatch(/trajectory_groups.*logprob/)
  })

  it('far from the policy’s: a warning', async () => {
    const { events } = await trained(groups(1))
    const [warning] = events.filter((event) => event.type === 'on_policy_warning')
    expect(warning?.data).toMatchObject({ code: 'logprob_gap', message: expect.any(String) })
  })
})

describe('a job that fails', () => {
  it('a loss that is not a number: fails with the reason and advice; the next job goes on', async () => {
    const model = await newModel()
    const impossible = [0, 1].map((reward) => trajectory(reward, { logprob: -1e38 }))
    const last = await end(await startJob(model.id, [group(...impossible)], { kimi_k2_tau: 1e6 }))
    expect(last.type).toBe('training_failed')
    expect(last.data['error_message']).toMatch(/loss|logprob/i)
    expect((await end(await startJob(model.id, groups(1)))).type).toBe('training_ended')
  })

  it('a dataset with functions beside its messages: names the row', async () => {
    const messages = [user, { role: 'assistant', content: 'hello' }]
    const rows = [{ messages, functions: [{ name: 'add' }] }]
    const table = await call('POST', '/table/create', { table: { project_id: 'local/wire', rows } })
    const val = { _class_name: 'Dataset', rows: `weave:///local/wire/table/${table['digest']}` }
    const obj = { project_id: 'local/wire', object_id: 'older-calls', val }
    const { digest } = await call('POST', '/obj/create', { obj })
    const training_data_url = `weave:///local/wire/object/older-calls:${digest}`
    const body = { model_id: (await newModel()).id, training_data_url }
    const last = await end((await call('POST', '/v1/preview/sft-training-jobs', body))['id'] ?? '')
    expect(last.data['error_message']).toMatch(/line 1 .*functions.*write them as tools/)
  })

  it('an unknown base model: registering names the error', async () => {
    const body = { project: 'wire', name: 'x', base_model: '/nowhere/at-all', return_existing: true }
    const response = await request('POST', '/v1/preview/models', body)
    expect(response.status).toBe(400)
    expect(await response.text()).toMatch(/nowhere.*heddle\/loom-tiny/)
  })

  it('a KL penalty with reference to a step that does not exist', async () => {
    const { last } = await trained(groups(1), { kl_penalty_coef: 0.1, kl_penalty_reference_step: 7 })
    expect(last).toMatchObject({ type: 'training_failed', data: { error_message: /step 7/ } })
  })
})

/** Last, since they kill the server. */
describe('kill -9 of the server with a job', () => {
  it('after it was taken: its trajectories become calls, once', async () => {
    const model = await newModel()
    const job = await startJob(model.id, groups(GROUPS))
    await server.signal('SIGKILL')
    await server.start()
    const project_id = 'local/wire'
    const ofJob = { $expr: { $eq: [{ $getField: 'attributes.trajectory.job_id' }, { $literal: job }] } }
    const ids = await until(async () => {
      const listed = await request('POST', '/calls/stream_query', { project_id, query: ofJob })
      const lines = (await listed.text()).split('\n').filter((line) => line !== '')
      return lines.length < TRAJECTORIES ? undefined : lines.map((line) => JSON.parse(line).id)
    })
    expect(new Set(ids).size).toBe(TRAJECTORIES)
    expect(ids.length).toBe(TRAJECTORIES)
    expect((await end(job)).type).toBe('training_ended')
  })
})
