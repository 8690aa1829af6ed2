import { describe, expect, it } from 'vitest'
import { documentsOf, type Fields } from '../../testing.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const { server, newModel } = useTrainingServer()

/** Longer texts make a group that is checked, and made calls of, in a thread. */
const SIZES = { small: 10, large: 300_000 }

const choice = (content: string) => ({
  finish_reason: 'stop',
  logprobs: { content: [{ token: 'token_id:1', logprob: -1 }] },
  message: { role: 'assistant', content },
})

function groupOf(chars: number): Fields {
  const attempt = (reward: number) => ({
    messages_and_choices: [
      { role: 'user', content: 'ü'.repeat(chars) },
      choice('two'),
      { role: 'user', content: 'three' },
      choice('four'),
    ],
    reward,
    metrics: { n: 3 },
  })
  return { trajectories: [attempt(1), attempt(0)], exceptions: [{ type: 'ValueError', message: 'boom' }] }
}

function send(id: string, groups: string): Promise<Response> {
  const body = Buffer.from(`{"model_id": "${id}", "split": "val", "trajectory_groups": ${groups}}`)
  return server.request(`/v1/preview/models/${id}/log`, { method: 'POST', body })
}

async function callsOf(project: string): Promise<Fields[]> {
  const sort_by = [{ field: 'started_at', direction: 'asc' }]
  const list = { project_id: project, sort_by, include_feedback: true }
  return documentsOf(await server.post('/calls/stream_query', list))
}

describe('POST /v1/preview/models/{model_id}/log with groups of any size', () => {
  it('200 with the same calls, rewards and metrics, and all of their texts', async () => {
    const shown = Object.values(SIZES).map(async (chars) => {
      const project = `sized-${chars}`
      const model = await newModel(undefined, { project })
      const groups = [groupOf(SIZES.small), groupOf(chars), groupOf(SIZES.small)]
      const { num_calls, metrics } = await json<Fields>(await send(model.id, JSON.stringify(groups)))
      const calls = await callsOf(`local/${project}`)
      const texts = calls.flatMap(({ inputs }) => JSON.stringify(inputs).match(/ü+/g) ?? [])
      expect(texts.filter((text) => text.length === chars)).not.toEqual([])
      const parts = calls.map(({ op_name, attributes, output, exception, summary }) => ({
        op_name,
        place: { ...((attributes as Fields)['trajectory'] as Fields), model: '', model_id: '' },
        output,
        exception,
        rewards: ((summary as Fields)['weave'] as Fields)['feedback'] !== undefined,
      }))
      return { num_calls, metrics, parts }
    })
    const [small, large] = await Promise.all(shown)
    expect(small?.num_calls).toBe(15)
    expect(large).toEqual(small)
  })

  it('200 with the texts of bytes that are no UTF-8 replaced', async () => {
    const project = 'no-utf-8'
    const model = await newModel(undefined, { project })
    const group = JSON.stringify(groupOf(SIZES.large)).replace('"two"', '"t?o"')
    const body = Buffer.from(`{"model_id": "${model.id}", "split": "val", "trajectory_groups": [${group}]}`)
    body[body.indexOf('"t?o"') + 2] = 0xff
    const response = await server.request(`/v1/preview/models/${model.id}/log`, { method: 'POST', body })
    expect(response.status).toBe(200)
    expect(JSON.stringify(await callsOf(`local/${project}`))).toContain('t\ufffdo')
  })

  it('422 that names the same place of what is wrong, and keeps nothing', async () => {
    const project = 'refused'
    const model = await newModel(undefined, { project })
    const refusals = Object.values(SIZES).map(async (chars) => {
      const wrong = JSON.stringify([groupOf(chars), { ...groupOf(chars), exceptions: [{ type: 1 }] }])
      const response = await send(model.id, wrong)
      const unclosed = await send(model.id, `[${JSON.stringify(groupOf(chars)).slice(0, -3)}[}}]`)
      expect([response.status, unclosed.status]).toEqual([422, 422])
      return ((await response.json()) as { detail: Fields[] }).detail.map(({ loc, msg }) => ({ loc, msg }))
    })
    const [small, large] = await Promise.all(refusals)
    expect(small).toContainEqual(
      expect.objectContaining({ loc: ['body', 'trajectory_groups', '1', 'exceptions', '0', 'type'] }),
    )
    expect(large).toEqual(small)
    expect(await callsOf(`local/${project}`)).toEqual([])
  })
})
