import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { documentsOf } from '../../testing.ts'
import { group } from '../test-group.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const { server, newModel, startJob, end } = useTrainingServer()

interface Call {
  id: string
  op_name: string
  thread_id: string | null
  exception: string | null
  started_at: string
  inputs: { messages?: unknown[]; tools?: unknown }
  output: { choices: { message: { content: string } }[]; messages_after?: unknown[] }
  attributes: { trajectory: Record<string, unknown>; trajectory_group?: object }
}

const log = (id: string, body: object) => server.post(`/v1/preview/models/${id}/log`, body)

async function callsOf(project: string, field: string, value: string): Promise<Call[]> {
  const response = await server.post('/calls/stream_query', {
    project_id: `local/${project}`,
    query: { $expr: { $eq: [{ $getField: `attributes.trajectory.${field}` }, { $literal: value }] } },
    sort_by: [{ field: 'started_at', direction: 'asc' }],
    include_feedback: true,
  })
  return documentsOf(response)
}

const choice = (content: string) => ({
  finish_reason: 'stop',
  index: 0,
  logprobs: { content: [{ token: 'token_id:1', logprob: -1 }] },
  message: { role: 'assistant', content },
})

const twoTurns = (reward: number) => ({
  messages_and_choices: [
    { role: 'user', content: 'one' },
    choice('two'),
    { role: 'user', content: 'three' },
    choice('four'),
  ],
  additional_histories: [{ messages_and_choices: [{ role: 'user', content: 'aside' }, choice('yes')] }],
  reward,
  metrics: { ok: reward > 0, n: 3 },
})

describe('POST /v1/preview/models/{model_id}/log', () => {
  it('200 with the metrics of the split, which the newest checkpoint shows', async () => {
    const model = await newModel()
    const exceptions = [{ type: "<class 'ValueError'>", message: 'boom', traceback: 'ValueError: boom' }]
    const groups = [
      { trajectories: [twoTurns(1), twoTurns(0)], exceptions, metrics: { gm: 2 } },
      { trajectories: [twoTurns(1), twoTurns(1)], exceptions: [] },
    ]
    const reply = await json<{ step: number; num_calls: number; metrics: object }>(
      await log(model.id, { model_id: model.id, split: 'val', trajectory_groups: groups }),
    )
    expect(reply).toEqual({
      step: 0,
      num_calls: 13,
      metrics: {
        'val/reward': 0.75,
        'val/reward_std_dev': 0.25,
        'val/ok': 0.75,
        'val/n': 3,
        'val/group_gm': 2,
        'val/exception_rate': 0.2,
      },
    })
    const shown = await server.request(`/v1/preview/models/${model.id}/checkpoints/0`)
    expect(await shown.json()).toMatchObject({ metrics: reply.metrics })
  })

  it('200 without the metrics that are too large for a number, and the next log works', async () => {
    const model = await newModel()
    const logged = async (rewards: number[]): Promise<{ metrics: Record<string, number> }> => {
      const trajectories = rewards.map((reward) => ({ ...twoTurns(reward), reward, metrics: { n: 1e308 } }))
      return json(
        await log(model.id, { model_id: model.id, split: 'val', trajectory_groups: [{ trajectories }] }),
      )
    }
    expect((await logged([2, 2])).metrics).toEqual({
      'val/reward': 2,
      'val/reward_std_dev': 0,
      'val/exception_rate': 0,
    })
    expect((await logged([2])).metrics).toMatchObject({ 'val/reward': 2, 'val/n': 1e308 })
    const shown = await server.request(`/v1/preview/models/${model.id}/checkpoints?limit=1&order=desc`)
    expect(await shown.json()).toMatchObject({ data: [{ metrics: { 'val/reward': 2 } }] })
  })

  it('200 with one call a turn, a thread a trajectory, the reward as feedback', async () => {
    const model = await newModel()
    await json(await log(model.id, { split: 'val', trajectory_groups: [{ trajectories: [twoTurns(0.5)] }] }))
    const calls = await callsOf('proj', 'model_id', model.id)
    expect(calls.map((call) => call.output.choices[0]?.message.content)).toEqual(['two', 'four', 'yes'])
    expect(new Set(calls.map((call) => call.thread_id)).size).toBe(1)
    expect(calls[1]?.inputs.messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ])
    expect(calls[1]?.output).toEqual({ choices: [choice('four')] })
    expect(calls[1]?.attributes.trajectory).toMatchObject({ split: 'val', reward: 0.5, turn: 1, history: 0 })
    const feedback = await json<{ result: object[] }>(
      await server.post('/feedback/query', {
        project_id: 'local/proj',
        query: {
          $expr: {
            $eq: [{ $getField: 'weave_ref' }, { $literal: `weave:///local/proj/call/${calls.at(-1)?.id}` }],
          },
        },
      }),
    )
    expect(feedback.result).toMatchObject([{ feedback_type: 'reward', payload: { value: 0.5 } }])
  })

  it('200 for plain messages, whose last answer is the output of one call with the reward', async () => {
    const model = await newModel()
    const asked = { role: 'user', content: 'one' }
    const answer = { role: 'assistant', content: 'two' }
    const thanks = { role: 'user', content: 'thanks' }
    const trajectories = [
      { messages_and_choices: [asked, answer, thanks], tools: [{ type: 'function' }], reward: 1 },
      { messages_and_choices: [asked], reward: 0 },
      { messages_and_choices: [], reward: 0.5 },
    ]
    const reply = await log(model.id, { split: 'val', trajectory_groups: [{ trajectories }] })
    expect(await json(reply)).toMatchObject({ num_calls: 3 })
    const calls = await callsOf('proj', 'model_id', model.id)
    expect(calls.map(({ op_name }) => op_name)).toEqual(Array(3).fill('trajectory.messages'))
    expect(calls.map(({ inputs, output }) => [inputs, output])).toEqual([
      [
        { messages: [asked], tools: [{ type: 'function' }] },
        { choices: [{ index: 0, message: answer }], messages_after: [thanks] },
      ],
      [{ messages: [asked] }, null],
      [{ messages: [] }, null],
    ])
    expect(calls.map(({ attributes }) => attributes.trajectory['reward'])).toEqual([1, 0, 0.5])
  })

  it('200 and the calls show messages after the last choice, logs, group members and unknown keys', async () => {
    const model = await newModel()
    const after = [
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { role: 'user', content: 'bye' },
    ]
    const { messages_and_choices, ...rest } = twoTurns(1)
    const trajectory = {
      ...rest,
      messages_and_choices: [...messages_and_choices, ...after],
      logs: ['l1'],
      x: 1,
    }
    const aside = { messages_and_choices: [{ role: 'user', content: 'aside' }], y: 2 }
    const groups = [
      {
        trajectories: [{ ...trajectory, additional_histories: [aside] }],
        exceptions: [{ type: 'E', message: 'boom', traceback: 'E: boom' }],
        metadata: { scenario: 's1' },
        metrics: { g: 2 },
        logs: ['gl'],
        z: 3,
      },
      { trajectories: [], metadata: {}, logs: ['nothing was tried'] },
      { trajectories: [], metadata: {}, metrics: {}, logs: [], exceptions: [] },
    ]
    await json(await log(model.id, { split: 'val', trajectory_groups: groups }))
    const calls = await callsOf('proj', 'model_id', model.id)
    const about = { metadata: { scenario: 's1' }, metrics: { g: 2 } }
    expect(calls.map((call) => [call.op_name, call.attributes.trajectory_group])).toEqual([
      ['trajectory.turn', about],
      ['trajectory.turn', about],
      ['trajectory.messages', about],
      ['trajectory.exception', { ...about, logs: ['gl'], z: 3 }],
      ['trajectory.group', { logs: ['nothing was tried'] }],
    ])
    expect(calls.map(({ output }) => output?.messages_after)).toEqual([undefined, after, ...Array(3)])
    expect(calls.map(({ attributes }) => attributes.trajectory['logs'])).toEqual([
      undefined,
      undefined,
      ['l1'],
      undefined,
      undefined,
    ])
    expect(calls[2]).toMatchObject({ inputs: { y: 2 }, attributes: { trajectory: { x: 1 } } })
    expect(calls[3]?.output).toEqual({ type: 'E', message: 'boom', traceback: 'E: boom' })
  })

  it('200 with calls at the start time of their trajectory', async () => {
    const model = await newModel()
    const trajectories = [{ ...twoTurns(1), start_time: '2026-01-02T04:04:05.5+01:00' }]
    await json(await log(model.id, { split: 'val', trajectory_groups: [{ trajectories }] }))
    const calls = await callsOf('proj', 'model_id', model.id)
    expect(calls.map(({ started_at }) => started_at)).toEqual([
      '2026-01-02T03:04:05.500000Z',
      '2026-01-02T03:04:05.500001Z',
      '2026-01-02T03:04:05.500002Z',
    ])
    expect(calls[2]?.attributes.trajectory['start_time']).toBe('2026-01-02T04:04:05.5+01:00')
  })

  it('422 names the trajectory and the member that cannot be shown', async () => {
    const model = await newModel()
    const refused = async (trajectory: object) => {
      const trajectory_groups = [{ trajectories: [twoTurns(1), trajectory] }]
      const response = await log(model.id, { split: 'val', trajectory_groups })
      expect(response.status).toBe(422)
      return ((await response.json()) as { detail: { loc: unknown[]; msg: string }[] }).detail[0]
    }
    const at = ['body', 'trajectory_groups', '0', 'trajectories', '1']
    expect(await refused({ ...twoTurns(1), start_time: 'nonsense' })).toMatchObject({
      loc: [...at, 'start_time'],
      msg: 'Input should be a valid datetime',
    })
    expect(await refused({ ...twoTurns(1), reward: -1e308 })).toMatchObject({
      loc: [...at, 'reward'],
      msg: 'Input should be greater than or equal to -1e+100',
    })
    const message = { message: { role: 'assistant', content: 'no finish_reason, no role' } }
    expect(await refused({ ...twoTurns(1), messages_and_choices: [message] })).toMatchObject({
      loc: [...at, 'messages_and_choices', '0', expect.any(String)],
      msg: 'Field required',
    })
    expect(await callsOf('proj', 'model_id', model.id)).toEqual([])
  })

  it('422 for many messages after the first wrong one, of which each costs time', async () => {
    const model = await newModel()
    const messages_and_choices = Array.from({ length: 1_000 }, () => ({}))
    const trajectory_groups = [{ trajectories: [{ messages_and_choices, reward: 1 }] }]
    const response = await log(model.id, { split: 'val', trajectory_groups })
    expect(response.status).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: string[] }[] }
    expect(new Set(detail.map(({ loc }) => loc[6]))).toEqual(new Set(['0']))
  })

  it.each([
    ['no split', { trajectory_groups: [] }, 422],
    ['a split that is no name', { split: 'a/b', trajectory_groups: [] }, 422],
    [
      'a reward that is no number',
      { split: 'val', trajectory_groups: [{ trajectories: [{ reward: 'high' }] }] },
      422,
    ],
    [
      'metadata that is nested too deeply',
      { split: 'val', trajectory_groups: [{ trajectories: [{ metadata: { deep: nested(1_500) } }] }] },
      400,
    ],
    [
      'settings that are nested too deeply',
      { split: 'val', trajectory_groups: [], more: nested(1_500) },
      400,
    ],
  ])('refuses %s, and nothing stays', async (_what, body, status) => {
    const model = await newModel()
    expect((await log(model.id, body)).status).toBe(status)
    expect(await callsOf('proj', 'model_id', model.id)).toEqual([])
  })

  it('200 for exchanges in place of messages and choices, also without fields that have a default', async () => {
    const model = await newModel()
    const exchange = {
      start_time: '2026-01-01T00:00:00Z',
      end_time: '2026-01-01T00:00:01Z',
      request: { model: 'm', messages: [{ role: 'user', content: 'one' }], temperature: 1 },
      response: { id: 'c1', choices: [choice('two')] },
    }
    const groups = [{ trajectories: [{ exchanges: { chat_completions: [exchange] } }, {}] }, {}]
    const reply = await log(model.id, { split: 'val', trajectory_groups: groups })
    expect(await json(reply)).toMatchObject({ metrics: { 'val/reward': 0 }, num_calls: 2 })
    const [turn] = await callsOf('proj', 'model_id', model.id)
    expect(turn).toMatchObject({
      inputs: { messages: [{ role: 'user', content: 'one' }] },
      output: {
        choices: [{ ...choice('two'), exchange: { request: { temperature: 1 }, response: { id: 'c1' } } }],
      },
    })
  })

  it('404 for an unknown model', async () => {
    expect((await log(randomUUID(), { split: 'val', trajectory_groups: [] })).status).toBe(404)
  })
})

describe('the trajectories of a training job', () => {
  it('become calls of the project, exceptions too', async () => {
    const model = await newModel()
    const failed = { trajectories: [], exceptions: [{ type: 'E', message: 'boom', traceback: 'E: boom' }] }
    const plain = { messages_and_choices: [{ role: 'user', content: 'hi' }], reward: 0, logs: ['kept'] }
    const job = await startJob(model.id, [group(), failed, { trajectories: [plain] }])
    await end(job)
    const calls = await vi.waitFor(
      async () => {
        const found = await callsOf('proj', 'job_id', job)
        expect(found).toHaveLength(3)
        return found
      },
      { timeout: 60_000 },
    )
    expect(calls.map((call) => [call.op_name, call.exception])).toEqual([
      ['trajectory.turn', null],
      ['trajectory.exception', 'E: boom'],
      ['trajectory.messages', null],
    ])
    expect(calls[0]?.output.choices[0]).toHaveProperty('logprobs.content.0.logprob', -0.5)
    expect(calls[2]?.attributes.trajectory['logs']).toEqual(['kept'])
  })
})

function nested(levels: number): unknown {
  return levels === 0 ? [] : [nested(levels - 1)]
}
