import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { documentsOf } from '../../testing.ts'
import { group, json, useTrainingServer } from '../use-training-server.ts'

const { server, newModel, startJob, end } = useTrainingServer()

interface Call {
  id: string
  op_name: string
  thread_id: string | null
  exception: string | null
  inputs: { messages?: unknown[] }
  output: { choices: { message: { content: string }; logprobs?: unknown }[] }
  attributes: { trajectory: Record<string, unknown> }
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
    expect((await logged([1e200, -1e200])).metrics).toEqual({ 'val/reward': 0, 'val/exception_rate': 0 })
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
    expect(calls[1]?.output.choices[0]).not.toHaveProperty('logprobs')
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

  it.each([
    ['no split', { trajectory_groups: [] }, 422],
    ['a split that is no name', { split: 'a/b', trajectory_groups: [] }, 422],
    ['a trajectory without a reward', { split: 'val', trajectory_groups: [{ trajectories: [{}] }] }, 422],
  ])('refuses %s, and nothing stays', async (_what, body, status) => {
    const model = await newModel()
    expect((await log(model.id, body)).status).toBe(status)
    expect(await callsOf('proj', 'model_id', model.id)).toEqual([])
  })

  it('404 for an unknown model', async () => {
    expect((await log(randomUUID(), { split: 'val', trajectory_groups: [] })).status).toBe(404)
  })
})

describe('the trajectories of a training job', () => {
  it('become calls of the project, exceptions too', async () => {
    const model = await newModel()
    const failed = { trajectories: [], exceptions: [{ type: 'E', message: 'boom', traceback: 'E: boom' }] }
    const job = await startJob(model.id, [group(), failed])
    await end(job)
    const calls = await vi.waitFor(
      async () => {
        const found = await callsOf('proj', 'job_id', job)
        expect(found).toHaveLength(2)
        return found
      },
      { timeout: 10_000 },
    )
    expect(calls.map((call) => [call.op_name, call.exception])).toEqual([
      ['trajectory.turn', null],
      ['trajectory.exception', 'E: boom'],
    ])
  })
})
