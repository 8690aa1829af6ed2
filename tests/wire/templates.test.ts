import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BaseModelCopy, baseModelWith } from './base-model-copy.ts'
import { clientProgram, isInstalled, pythonIn } from './environments.ts'
import { KEY, runClient, startServer, type WireServer } from './server.ts'
import { type Checkpoint, trainingClient } from './training-client.ts'

/** Without a key of W&B the client opens no run. */
const TRAINING = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' }

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

  const { call } = trainingClient(() => server)
  const environments = ['clients-oldest', 'clients', 'clients-newest'] as const
  it.each(environments.filter(isInstalled))(
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
        // Each token that was sampled is trained on once; the client's own metrics are means over gradient steps.
        const checkpoint = await call<Checkpoint>('GET', `/v1/preview/models/${model_id}/checkpoints/${step}`)
        expect(checkpoint.metrics['num_trainable_tokens']).toBe(sampled)
      }
    },
  )
})
