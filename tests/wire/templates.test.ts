import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReady, pythonIn } from '../../scripts/python-environments.ts'
import { type BaseModelCopy, baseModelWith } from './base-model-copy.ts'
import { clientProgram } from './client-program.ts'
import { KEY, runClient, startServer, type WireServer } from './server.ts'
import { type Checkpoint, trainingClient } from './training-client.ts'

/** Without a key of W&B the client opens no run. */
const TRAINING = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' }

const NODE = join(import.meta.dirname, '../../node_modules/.bin/node')

/** A message, or a choice with its tokens. */
interface Element {
  role?: string
  logprobs?: { content: unknown[] }
}

const calls = [
  { id: 'chatcmp01', type: 'function', function: { name: 'add', arguments: '{"b":1.0,"1":"x"}' } },
  { id: 'chatcmp02', type: 'function', function: { name: 'look_up', arguments: '{"é": [1, 2.50]}' } },
]
const TASK = {
  first: { role: 'user', content: 'What is 3 + 4?' },
  next: { role: 'user', content: 'And twice that?' },
  tools: [
    {
      function: { parameters: { type: 'object', properties: { b: { type: 'number' } } }, name: 'add' },
      type: 'function',
    },
    { type: 'function', function: { name: 'look_up', description: 'Looks <it> up, é.' } },
  ],
  tools_used: [
    { role: 'user', content: 'Use both.' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'chatcmp01', content: '7' },
    { role: 'tool', tool_call_id: 'chatcmp02', content: 'found <b>it</b>' },
    { role: 'user', content: 'So?' },
  ],
}

interface Trained {
  step: number
  sampled: number
  metrics: Record<string, number>
}

describe.each(['qwen3', 'qwen3.5'])('a base model with the chat template of %s', (template) => {
  let base: BaseModelCopy
  let server: WireServer

  beforeAll(async () => {
    base = await baseModelWith(template)
    server = await startServer({ HEDDLE_ENGINE_PYTHON: pythonIn('engine'), HEDDLE_BASE_MODEL: base.id })
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await base[Symbol.asyncDispose]()
  })

  const { call, newModel, startJob, end, newest, eventsOf } = trainingClient(() => server)
  const environments = ['clients-oldest', 'clients', 'clients-newest'] as const
  it.each(environments.filter(isReady))(
    'trains what openpipe-art of %s has sampled, in the context that it was sampled in',
    async (environment) => {
      const name = `templates-${randomUUID().slice(0, 8)}`
      const program = [
        pythonIn(environment),
        clientProgram('art_templates.py'),
        server.url,
        KEY,
        name,
        base.id,
      ]
      const seen = (await runClient(program, TRAINING)) as unknown as { model_id: string; trained: Trained[] }
      const { trained, model_id } = seen
      expect(trained.map(({ step }) => step)).toEqual([1, 2])
      for (const { step, metrics, sampled } of trained) {
        expect(metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-4)
        expect(metrics['on_policy/tokens_with_rebuilt_context']).toBe(0)
        expect(metrics['on_policy/tokens_without_logprobs']).toBe(0)
        // Each sampled token is trained on once; the client's metrics are means over gradient steps.
        const checkpoint = await call<Checkpoint>('GET', `/v1/preview/models/${model_id}/checkpoints/${step}`)
        expect(checkpoint.metrics['num_trainable_tokens']).toBe(sampled)
      }
    },
  )

  /** Trains on what a program with an `openai` client has sampled, with choices as they came. */
  async function trainOn(program: readonly string[], env: Record<string, string>): Promise<void> {
    const { id, name } = await newModel({ base_model: base.id })
    const task = { ...TASK, model: name }
    const asked = { BASE_URL: server.url, API_KEY: KEY, TASK: JSON.stringify(task), ...env }
    const { rollouts } = (await runClient(program, asked)) as unknown as { rollouts: Element[][] }
    const trajectories = rollouts.map((messages_and_choices, index) => ({
      messages_and_choices,
      tools: messages_and_choices.some(({ role }) => role === 'tool') ? TASK.tools : null,
      reward: index % 3,
    }))
    const job = await startJob(id, [{ trajectories }], { require_sampled_context: true })
    expect(await end(job), JSON.stringify(await eventsOf(job))).toMatchObject({ type: 'training_ended' })
    const { metrics } = await newest(id)
    const tokens = rollouts.flat().map(({ logprobs }) => logprobs?.content.length ?? 0)
    expect(metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-4)
    expect(metrics['on_policy/tokens_with_rebuilt_context']).toBe(0)
    expect(metrics['num_trainable_tokens']).toBe(tokens.reduce((sum, count) => sum + count, 0))
  }

  it.each(['openai-oldest', 'openai-newest'] as const)('trains on rollouts of %s for Python', (environment) =>
    trainOn([pythonIn(environment), clientProgram('openai_rollouts.py')], {}),
  )

  it.each(['openai-oldest', 'openai'])('trains on rollouts of %s for JavaScript', (OPENAI_PACKAGE) =>
    trainOn([NODE, clientProgram('openai_rollouts.mjs')], { OPENAI_PACKAGE }),
  )
})
