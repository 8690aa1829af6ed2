import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { type Event, trainingClient } from '../training-client.ts'
import { until } from '../until.ts'
import { engineServer } from './server.ts'

const { call, request, newModel, end, eventsOf, newest, chat } = trainingClient(engineServer)

describe('PyPI openpipe-art and openai', () => {
  it('register, roll out, train, sample every step and delete, without a request that should not fail', async () => {
    const program = [
      pythonIn('clients'),
      clientProgram('art_basic.py'),
      engineServer().url,
      engineServer().key,
      `art-${randomUUID().slice(0, 8)}`,
    ]
    const seen = await runClient(program, { WANDB_BASE_URL: engineServer().url })
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
    const failed = (await engineServer().takeRequests()).filter(({ status }) => status >= 400)
    expect(
      failed
        .map(({ path, status }) => `${status} ${path}`)
        .filter((line) => line !== '404 /v1/chat/completions'),
    ).toEqual([])
  })
})

describe('PyPI openpipe-art, with only a URL and a key', () => {
  it('trains by RL and SFT, logs, pulls, forks and deletes, and no request fails', async () => {
    const name = `whole-${randomUUID().slice(0, 8)}`
    const program = [pythonIn('clients'), clientProgram('art_whole.py'), engineServer().url, name]
    const seen = await runClient(program, {
      WANDB_BASE_URL: engineServer().url,
      WANDB_API_KEY: engineServer().key,
    })
    expect(seen).toMatchObject({
      rl_step: 1,
      sft_step: 2,
      sft_answer: expect.stringContaining('pong'),
      pulled: { 'adapter_config.json': expect.any(Number), 'adapter_model.safetensors': expect.any(Number) },
      fork_step: 2,
      fork_answer: seen['sft_answer'],
      fork_continued: 3,
      fork_after_delete: seen['sft_answer'],
    })
    // The newest step stays, and the best by its metrics, which has to be one of these.
    expect(seen['steps_after_delete']).toContain(2)
    const metrics = seen['rl_metrics'] as Record<string, number>
    expect(metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-4)
    expect(metrics['on_policy/tokens_biased_by_top_p']).toBe(metrics['data/step_trainer_tokens'])
    expect(seen['history_keys']).toEqual(expect.arrayContaining(['loss/train', 'val/reward', 'train/reward']))
    const failed = (await engineServer().takeRequests()).filter(({ status }) => status >= 400)
    expect(failed.map(({ path, status }) => `${status} ${path}`)).toEqual([])
  })

  it('shows the trajectories it trained on as calls', async () => {
    const query = {
      project_id: 'local/whole',
      query: {
        $expr: {
          $eq: [{ $getField: 'attributes.trajectory.split' }, { $literal: 'train' }],
        },
      },
    }
    const { count } = await until(async () => {
      const stats = await call<{ count: number }>('POST', '/calls/query_stats', query)
      return stats.count >= 32 ? stats : undefined
    })
    expect(count).toBe(32)
  })
})

const lesson = (x: number) => ({
  messages: [
    { role: 'user', content: `ping ${x}` },
    { role: 'assistant', content: `pong ${x}` },
  ],
})

describe('SFT by an upload', () => {
  async function train(modelId: string, url: string, config: object): Promise<Event[]> {
    const body = { model_id: modelId, training_data_url: url, config }
    const job = await call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', body)
    await end(job.id)
    return eventsOf(job.id)
  }

  it('takes one step a batch, with a learning rate for each, and the loss falls', async () => {
    const lines = Array.from({ length: 20 }, (_, x) => JSON.stringify(lesson(x))).join('\n')
    const upload = await call<{ training_data_url: string; lines: number }>(
      'POST',
      '/v1/preview/training-data',
      lines,
    )
    expect(upload.lines).toBe(20)
    const model = await newModel()
    const rates = Array.from({ length: 3 }, (_, batch) => 2e-3 / (batch + 1))
    const events = await train(model.id, upload.training_data_url, { batch_size: 8, learning_rate: rates })
    const steps = events.filter((event) => event.type === 'gradient_step').map((event) => event.data)
    expect(steps.map((step) => step['learning_rate'])).toEqual(rates)
    expect(steps.map((step) => step['num_trajectories'])).toEqual([8, 8, 4])
    expect(Number(steps[2]?.['loss'])).toBeLessThan(Number(steps[0]?.['loss']))
    expect((await newest(model.id)).step).toBe(1)
    expect(await chat(model.name)).toEqual(expect.any(String))
  })

  it('reports how many learning rates a job lacks', async () => {
    const lines = Array.from({ length: 6 }, (_, x) => JSON.stringify(lesson(x))).join('\n')
    const { training_data_url } = await call<{ training_data_url: string }>(
      'POST',
      '/v1/preview/training-data',
      lines,
    )
    const model = await newModel()
    const events = await train(model.id, training_data_url, { batch_size: 2, learning_rate: [1e-3] })
    expect(events.at(-1)).toMatchObject({
      type: 'training_failed',
      data: { error_message: expect.stringMatching(/1 rates .* 3 batches/) },
    })
  })
})

describe('POST /v1/chat/completions', () => {
  const ask = (body: object) =>
    request('POST', '/v1/chat/completions', {
      model: 'heddle/loom-tiny',
      messages: [{ role: 'user', content: 'What is 2 + 2?' }],
      max_tokens: 4,
      ...body,
    })

  it('answers at the path with a trailing slash too', async () => {
    const response = await request('POST', '/v1/chat/completions/', {
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
    const response = await fetch(`${engineServer().url}/v1/chat/completions`, {
      method: 'POST',
      body: 'nonsense',
    })
    expect(response.status).toBe(401)
    expect(await json(response)).toMatchObject({ error: { message: expect.any(String) } })
  })
})

describe('POST /v1/preview/training-jobs', () => {
  it('422 with the detail array for a body of another shape, 404 for an unknown model', async () => {
    const bad = await request('POST', '/v1/preview/training-jobs', {
      model_id: 'x',
      trajectory_groups: [{ trajectories: 1 }],
    })
    expect(bad.status).toBe(422)
    expect(await json(bad)).toMatchObject({
      detail: expect.arrayContaining([expect.objectContaining({ loc: expect.any(Array) })]),
    })
    const unknown = await request('POST', '/v1/preview/training-jobs', {
      model_id: randomUUID(),
      trajectory_groups: [],
    })
    expect(unknown.status).toBe(404)
  })
})

async function json(response: Response): Promise<Record<string, never>> {
  return (await response.json()) as Record<string, never>
}
