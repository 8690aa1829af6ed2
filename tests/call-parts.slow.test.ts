import { describe, expect, it } from 'vitest'
import { newId } from '../src/ids.ts'
import { documentsOf, useTestServer } from '../src/testing.ts'

const server = useTestServer()

interface Part {
  path: string
  body: object
}

/** The parts of one call, by every route that takes parts. */
function partsOf(project: string, id: string): Part[] {
  const trace_id = newId()
  const times = { started_at: '2026-01-01T00:00:00.000001Z', ended_at: '2026-01-01T00:00:09.5Z' }
  const ids = { project_id: project, id, trace_id }
  const start = {
    ...ids,
    op_name: 'op',
    started_at: times.started_at,
    attributes: { a: 1 },
    inputs: { x: 1.5 },
  }
  const end = { ...ids, ended_at: times.ended_at, output: [1, 'two'], summary: { s: 1 } }
  return [
    { path: '/call/start', body: { start } },
    { path: '/call/end', body: { end } },
    { path: `/v2/${project}/call/start`, body: { start: { ...start, project_id: 'another/project' } } },
    { path: `/v2/${project}/call/end`, body: { end: { ...end, project_id: null } } },
    { path: '/call/upsert_batch', body: { batch: [{ mode: 'end', req: { end } }] } },
    { path: '/call/upsert_batch', body: { batch: [{ mode: 'start', req: { start } }] } },
    { path: `/v2/${project}/calls/complete`, body: { batch: [{ ...start, ...end }] } },
  ]
}

/**
 * Orders of a list: every one in which its first and last are swapped or turned, which is enough to have each first.
 */
function ordersOf<Item>(items: readonly Item[]): Item[][] {
  const turned = items.map((_, from) => [...items.slice(from), ...items.slice(0, from)])
  return [...turned, ...turned.map((order) => order.toReversed())]
}

async function send({ path, body }: Part): Promise<void> {
  expect((await server.post(path, body)).status, path).toBe(200)
}

describe('POST /v2/{entity}/{project}/call/start and /v2/{entity}/{project}/call/end', () => {
  it('200: parts in any order, by any route, once or twice, at once or one after the other, end in one state', async () => {
    const project = server.newProject()
    const expected = {
      op_name: 'op',
      attributes: { a: 1 },
      inputs: { x: 1.5 },
      output: [1, 'two'],
      started_at: '2026-01-01T00:00:00.000001Z',
      ended_at: '2026-01-01T00:00:09.500000Z',
    }
    const ids: string[] = []
    for (const order of ordersOf([0, 1, 2, 3, 4, 5, 6])) {
      const id = newId()
      ids.push(id)
      const parts = partsOf(project, id)
      for (const index of order) await send(parts[index] as Part)
      await Promise.all(parts.map(send))
    }
    for (const [first, second] of [
      [2, 3],
      [3, 2],
    ] as const) {
      const id = newId()
      ids.push(id)
      const parts = partsOf(project, id)
      await send(parts[first] as Part)
      await send(parts[second] as Part)
    }
    const calls = await documentsOf<{ id: string }>(
      await server.post('/calls/stream_query', { project_id: project }),
    )
    expect(calls.map(({ id }) => id).sort()).toEqual(ids.sort())
    for (const call of calls) expect(call).toMatchObject(expected)
  })
})
