import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTestAccounts } from '../../accounts/test-accounts.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../../tracking/test-client.ts'
import { group } from '../test-group.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const { server, newModel, startJob, end, steps, weightsOf } = useTrainingServer()
const client = createTestClient(server)

/** The two files of an adapter; its header is short enough to be text. */
function adapter(weights: string, more: { tensors?: object; config?: object } = {}): Record<string, string> {
  const header = JSON.stringify({ __metadata__: { weights }, ...more.tensors })
  const length = String.fromCharCode(header.length)
  return {
    'adapter_config.json': JSON.stringify({ peft_type: 'LORA', r: 8, lora_alpha: 16, ...more.config }),
    'adapter_model.safetensors': `${length}${'\0'.repeat(7)}${header}`,
  }
}

/** A model, and a function that uploads an adapter under its name as clients do. */
async function modelAndUpload() {
  const project = server.newProject()
  const model = await newModel(randomUUID(), { entity: 'test', project: project.split('/')[1] })
  return {
    id: model.id,
    chatName: `wandb-artifact:///${project}/${model.name}`,
    upload: (files: Record<string, string>, aliases: string[]) =>
      client.log({ project, name: model.name, type: 'lora', aliases, files }),
  }
}

describe('an artifact of type lora under the name of a model', () => {
  it('becomes the step that its alias names; training goes on from it', async () => {
    const { id, chatName, upload } = await modelAndUpload()
    await upload(adapter('X'), ['step5'])
    expect(await steps(id)).toEqual([0, 5])
    expect(await weightsOf(chatName)).toBe('X')
    expect(await weightsOf(`${chatName}:v1`)).toBe('X')
    await end(await startJob(id, [group()]))
    expect(await weightsOf(`${chatName}:step6`)).toBe('X+1')
  })

  it('becomes a step with what other programs write beside a LoRA adapter', async () => {
    const { id, upload } = await modelAndUpload()
    const config = { init_lora_weights: 'gaussian', bias: 'none', modules_to_save: null, rank_pattern: {} }
    await upload(adapter('X', { config: { ...config, alpha_pattern: { 'layers.0.q_proj': 4 } } }), ['step5'])
    expect(await steps(id)).toEqual([0, 5])
  })

  it('keeps the files of the adapter alone', async () => {
    const { id, upload } = await modelAndUpload()
    const others = {
      'trainer_state.json': '{"global_step": 7}',
      'optimizer.safetensors': 'x',
      'README.md': '',
    }
    await upload({ ...adapter('X'), ...others }, ['step5'])
    const response = await server.request(`/v1/preview/models/${id}/checkpoints/5`)
    const { files } = await json<{ files: { name: string }[] }>(response)
    expect(files.map((file) => file.name).sort()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
    ])
  })

  it('becomes the next step without such an alias', async () => {
    const { id, upload } = await modelAndUpload()
    await upload(adapter('X'), ['mine'])
    expect(await steps(id)).toEqual([0, 1])
  })

  it.each([
    [
      'of another base model',
      adapter('X', { tensors: { q: { shape: [8], data_offsets: [0, 0] } } }),
      /has not/,
    ],
    ['without an alpha', adapter('X', { config: { lora_alpha: null } }), /does not describe/],
    ['that is no LoRA adapter', adapter('X', { config: { peft_type: 'IA3' } }), /LoRA/],
    ['of too high a rank', adapter('X', { config: { r: 64 } }), /rank 64/],
    ['of too high a rank somewhere', adapter('X', { config: { rank_pattern: { q_proj: 64 } } }), /rank 64/],
    ['with an expression', adapter('X', { config: { rank_pattern: { '(.+)+!': 8 } } }), /does not describe/],
    [
      'of another base',
      adapter('X', { config: { init_lora_weights: 'pissa' } }),
      /init_lora_weights "pissa"/,
    ],
    ['of repeated layers', adapter('X', { config: { layer_replication: [[0, 2]] } }), /layer_replication/],
    ['without weights', { 'adapter_config.json': '{}' }, /adapter_model/],
    ['with half a header', { ...adapter('X'), 'adapter_model.safetensors': '\u0010{' }, /safetensors/],
  ])('is refused when it is one %s, and no step is made', async (_what, files, reason) => {
    const { id, upload } = await modelAndUpload()
    await expect(upload(files, ['step5'])).rejects.toThrow(reason)
    expect(await steps(id)).toEqual([0])
  })

  it('is refused for a step that the model has had', async () => {
    const { id, upload } = await modelAndUpload()
    await upload(adapter('X'), ['step5'])
    await expect(upload(adapter('Y'), ['step3'])).rejects.toThrow(/step 3/)
    expect(await steps(id)).toEqual([0, 5])
  })
})

describe('an artifact of type lora under the name of a model, of a key', () => {
  const guarded = useTestServer({ auth: 'keys', compute: (path) => openFakeCompute(path) })
  const accounts = createTestAccounts(guarded)

  it('is refused to keys that may add data alone, and becomes a step for others', async () => {
    const anna = await accounts.newUser('anna')
    const model = { entity: 'anna', project: 'p', name: 'm', base_model: TEST_BASE_MODEL }
    const { id } = await json<{ id: string }>(await anna.post('/v1/preview/models', model))
    const uploadWith = async (scope: string) => {
      const made = await anna.post('/v1/accounts/keys', { name: scope, scope, project_id: 'anna/p' })
      const { key } = await json<{ key: string }>(made)
      const { entity, project, name } = model
      const named = { entity, project, name, type: 'lora', files: adapter(scope) }
      return createTestClient(guarded, key).log(named)
    }
    const stepsOf = async () => {
      const page = await anna.get(`/v1/preview/models/${id}/checkpoints`)
      return (await json<{ data: { step: number }[] }>(page)).data.map(({ step }) => step)
    }
    await expect(uploadWith('ingest')).rejects.toThrow('This key may not change anna/p')
    expect(await stepsOf()).toEqual([0])
    await uploadWith('all')
    expect(await stepsOf()).toEqual([0, 1])
  })
})
