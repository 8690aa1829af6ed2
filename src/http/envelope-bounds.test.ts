import { describe, expect, it } from 'vitest'
import { useTestServer } from '../testing.ts'

const server = useTestServer()

async function refused(path: string, body: string): Promise<unknown> {
  const reply = await server.request(path, { method: 'POST', body })
  return { status: reply.status, body: await reply.json() }
}

describe('POST /calls/stream_query', () => {
  it('413 for a list of millions of wrong values, without an error for each', async () => {
    const numbers = '1,'.repeat(5_000_000)
    const body = `{"project_id":"a/b","filter":{"call_ids":[${numbers}1]}}`
    expect(await refused('/calls/stream_query', body)).toEqual({
      status: 413,
      body: { reason: expect.stringContaining('more than') },
    })
  })

  it('400 for a query nested too deep to be read', async () => {
    const levels = 50_000
    const query = `${'{"$not":['.repeat(levels)}{"$literal":1}${']}'.repeat(levels)}`
    const body = `{"project_id":"a/b","query":{"$expr":${query}}}`
    expect(await refused('/calls/stream_query', body)).toEqual({
      status: 400,
      body: { reason: 'The body is nested more than 1000 levels deep' },
    })
  })

  it('422 for a query of more parts than are looked at, and not for one with many values', async () => {
    const query = (condition: string, count: number) =>
      `{"project_id":"a/b","query":{"$expr":{"$and":[${Array(count).fill(condition)}]}}}`
    expect(await refused('/calls/stream_query', query('{"$eq":[1]}', 90_000))).toEqual({
      status: 422,
      body: { detail: [expect.objectContaining({ msg: 'A query has at most 8000 parts' })] },
    })
    const values = Array(10_000).fill('{"$literal":1}')
    const asked = `{"$in":[{"$getField":"id"},[${values}]]}`
    const reply = await server.request('/calls/stream_query', { method: 'POST', body: query(asked, 1) })
    expect(reply.status).toBe(200)
  })
})
