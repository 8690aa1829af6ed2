import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { ComputeOptions } from '../stores/compute/compute.ts'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { eventually } from '../test-eventually.ts'
import { type TestServer, useTestServer } from '../testing.ts'

export interface Event {
  id: string
  type: string
  data: Record<string, unknown>
}

/** The whole app with a simulated engine, and helpers for tests of training. @param compute options of the engine */
export function useTrainingServer(compute: Partial<ComputeOptions> = {}) {
  let folder = ''
  const server = useTestServer({
    compute: (path) => {
      folder = path
      return openFakeCompute(path, compute)
    },
  })

  async function newModel(
    name: string = randomUUID(),
    more: object = {},
  ): Promise<{ id: string; name: string; entity: string }> {
    const body = { entity: null, project: 'proj', name, base_model: TEST_BASE_MODEL, return_existing: true }
    return json(await server.post('/v1/preview/models', { ...body, ...more }))
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
    return eventually(async () => {
      const { data } = await events(jobId)
      expect(data.at(-1)?.type).toMatch(/^training_(ended|failed)$/)
      return data
    })
  }

  async function steps(modelId: string, query = ''): Promise<number[]> {
    const path = `/v1/preview/models/${modelId}/checkpoints${query}`
    const page = await json<{ data: { step: number }[] }>(await server.request(path))
    return page.data.map((checkpoint) => checkpoint.step)
  }

  /** The weights that answer for a model name, or the status of the refusal. */
  async function weightsOf(model: string): Promise<string | number> {
    const chat = { model, messages: [{ role: 'user', content: 'hi' }] }
    const response = await server.post('/v1/chat/completions', chat)
    if (response.status !== 200) return response.status
    const reply = (await response.json()) as { choices: { message: { content: string } }[] }
    return reply.choices[0]?.message.content.split(':')[0] ?? ''
  }

  return {
    server: server as TestServer,
    get folder() {
      return folder
    },
    newModel,
    postJob,
    startJob,
    events,
    end,
    steps,
    weightsOf,
    /** The stored trajectories of jobs. */
    batches: (): string[] => readdirSync(`${folder}/blobs/trajectory-groups`).sort(),
  }
}

export async function json<Body>(response: Response): Promise<Body> {
  expect(response.status, await response.clone().text()).toBe(200)
  return (await response.json()) as Body
}
