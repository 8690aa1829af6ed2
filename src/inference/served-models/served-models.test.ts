import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { newTestModel } from '../test-models.ts'

const server = useTestServer({ compute: openFakeCompute })

const newModel = async (): Promise<string> => (await newTestModel(server)).path

describe('GET /v1/models', () => {
  it('200 with the base model and the models of the caller', async () => {
    const model = await newModel()
    const { data } = await replyOf<{ data: { id: string }[] }>(await server.request('/v1/models'))
    expect(data.map((entry) => entry.id)).toEqual(
      expect.arrayContaining([TEST_BASE_MODEL, `wandb-artifact:///${model}`]),
    )
  })
})

describe('GET /v1/models/{model}', () => {
  it('200 for every name that a completion takes, escaped or not', async () => {
    const model = await newModel()
    for (const name of [TEST_BASE_MODEL, model, `wandb-artifact:///${model}:step0`, `${model}@0`]) {
      for (const path of [name, encodeURIComponent(name)]) {
        const found = await replyOf(await server.request(`/v1/models/${path}`))
        expect(found).toMatchObject({ id: name, object: 'model', root: TEST_BASE_MODEL })
      }
    }
  })

  it('404 for a model or a step that does not exist', async () => {
    const model = await newModel()
    const step = `${model}:step7`
    for (const [name, message] of [
      ['nobody', 'model nobody not found'],
      [step, `checkpoint of model ${step} not found`],
    ] as const) {
      const response = await server.request(`/v1/models/${encodeURIComponent(name)}`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { message, param: 'model' } })
    }
  })
})
