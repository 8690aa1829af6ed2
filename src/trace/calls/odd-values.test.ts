import { deflateSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

/** Numbers and texts that JSON allows and for which the database has no type. */
const ODD = [
  '18446744073709551616',
  '340282366920938463463374607431768211456',
  '-9223372036854775809',
  '1e400',
  String.raw`"\ud800"`,
  String.raw`"\udc00x"`,
  String.raw`"\\\ud83d\ude00 \\ud800"`,
]

const PAYLOADS = ['inputs', 'output', 'attributes', 'summary'] as const

describe.each(PAYLOADS)('POST /calls/stream_query for calls with odd values in %s', (payload) => {
  const long = `${'word '.repeat(40)}end`
  const field = (name: string) => ({ $getField: `${payload}.${name}` })
  const contains = { $contains: { input: field('long'), substr: { $literal: 'word end' } } }

  it.each(ODD)('200 with the call, found by its other leaves and in order: %s', async (odd) => {
    const project_id = server.newProject()
    const document = (rank: number): string => `{"odd":${odd},"name":"found","rank":${rank},"long":"${long}"}`
    const batch = [1, 3, 2].map((rank) =>
      JSON.stringify(finishedCall({ [payload]: 'PAYLOAD' })).replace('"PAYLOAD"', document(rank)),
    )
    const written = await server.request(`/v2/${project_id}/calls/complete`, {
      method: 'POST',
      body: `{"batch":[${batch.join(',')}]}`,
    })
    expect(written.status).toBe(200)
    for (const condition of [{ $eq: [field('name'), { $literal: 'found' }] }, contains]) {
      const sort_by = [{ field: `${payload}.rank`, direction: 'desc' }]
      const query = { $expr: condition }
      const response = await server.post('/calls/stream_query', { project_id, query, sort_by })
      const lines = (await response.text()).trimEnd().split('\n')
      expect(lines).toHaveLength(3)
      for (const [index, line] of lines.entries()) {
        const [, found] = /"rank":\s*(\d)/.exec(line) ?? []
        expect(found).toBe(String(3 - index))
        expect(line).toContain(`"odd":${odd}`)
      }
    }
  })
})

describe('POST /v2/{entity}/{project}/calls/complete with a compressed body', () => {
  it('200 for gzip and deflate, 400 for bytes that are neither, 415 for another encoding', async () => {
    const project_id = server.newProject()
    const send = (encoding: string, compress: (bytes: Buffer) => Uint8Array) =>
      server.request(`/v2/${project_id}/calls/complete`, {
        method: 'POST',
        headers: { 'content-encoding': encoding },
        body: new Uint8Array(compress(Buffer.from(JSON.stringify({ batch: [finishedCall()] })))),
      })
    const plain = (bytes: Buffer) => bytes
    const answers = await Promise.all([
      send('gzip', gzipSync),
      send('Deflate', deflateSync),
      send('gzip', plain),
      send('br', plain),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 415])
    const calls = await documentsOf(await server.post('/calls/stream_query', { project_id }))
    expect(calls).toHaveLength(2)
  })
})

describe('POST /v2/{entity}/{project}/calls/complete with half a character', () => {
  it('200 with the mark of a lost one in its place, and with the calls beside it', async () => {
    const project_id = server.newProject()
    const odd = { op_name: 'op\ud800', exception: '\udc00!', display_name: 'd\ud83d', thread_id: 't\ud800' }
    await writeCalls(server, project_id, [finishedCall(odd), finishedCall()])
    const calls: Fields[] = await documentsOf(await server.post('/calls/stream_query', { project_id }))
    expect(calls).toHaveLength(2)
    expect(calls).toContainEqual(
      expect.objectContaining({
        op_name: 'op\ufffd',
        exception: '\ufffd!',
        display_name: 'd\ufffd',
        thread_id: 't\ufffd',
      }),
    )
  })
})

describe('POST /call/upsert_batch with several parts of one kind', () => {
  it('200 and the refs of both are found', async () => {
    const project_id = server.newProject()
    const { id, trace_id, op_name, started_at, ended_at, attributes, inputs, summary }: Fields =
      finishedCall()
    const start = { project_id, id, trace_id, op_name, started_at, attributes, inputs }
    const end = { project_id, id, ended_at, summary }
    const ref = `weave:///${project_id}/object/o:abc`
    const batch = [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end: { ...end, output: ref } } },
      { mode: 'end', req: { end } },
    ]
    expect((await server.post('/call/upsert_batch', { batch })).status).toBe(200)
    const found = await server.post('/calls/query_stats', { project_id, filter: { output_refs: [ref] } })
    expect(await found.json()).toMatchObject({ count: 1 })
  })

  it('200 and filters read the payload that counts, whichever of them was long', async () => {
    const project_id = server.newProject()
    const { id, trace_id, op_name, started_at, attributes, ended_at, summary }: Fields = finishedCall()
    const start = (inputs: Fields) => ({
      mode: 'start',
      req: { start: { project_id, id, trace_id, op_name, started_at, attributes, inputs } },
    })
    const end = { mode: 'end', req: { end: { project_id, id, ended_at, summary } } }
    const batch = [start({ k: 1, long: 'x'.repeat(1000) }), start({ k: 2 }), end]
    expect((await server.post('/call/upsert_batch', { batch })).status).toBe(200)
    const query = { $expr: { $eq: [{ $getField: 'inputs.k' }, { $literal: 2 }] } }
    const found = await server.post('/calls/query_stats', { project_id, query })
    expect(await found.json()).toMatchObject({ count: 1 })
  })
})

describe('POST /v2/{entity}/{project}/calls/complete at the limits', () => {
  it('200 for ids like those of spans, and names of as many characters as there may be', async () => {
    const project_id = server.newProject()
    const fields = { id: '0123456789abcdez', op_name: '😀'.repeat(128), display_name: '😀'.repeat(1024) }
    await writeCalls(server, project_id, [finishedCall(fields)])
    const [call] = await documentsOf<Fields>(await server.post('/calls/stream_query', { project_id }))
    expect(call).toMatchObject(fields)
  })

  it.each<[number, Fields]>([
    [422, { op_name: '😀'.repeat(129) }],
    [422, { started_at: '2026-02-30T00:00:00Z' }],
    [422, { started_at: '2026-04-31' }],
    [422, { ended_at: '2026-02-29' }],
  ])('%i for %j, and nothing is stored', async (status, fields) => {
    const project_id = server.newProject()
    const body = { batch: [finishedCall(), finishedCall(fields)] }
    expect((await server.post(`/v2/${project_id}/calls/complete`, body)).status).toBe(status)
    expect(await documentsOf(await server.post('/calls/stream_query', { project_id }))).toEqual([])
  })
})

describe('POST /calls/query_stats for odd literals and paths', () => {
  let project_id: string

  beforeAll(async () => {
    project_id = server.newProject()
    const grid = Array.from({ length: 16 }).reduce((inner: unknown) => [0, inner], { '7': 'deep' })
    await writeCalls(server, project_id, [
      finishedCall({ inputs: { n: 3, grid, '99999999999999999999999': 'key' } }),
    ])
  })

  async function count(expression: object): Promise<{ status: number; count: unknown }> {
    const response = await server.post('/calls/query_stats', { project_id, query: { $expr: expression } })
    const body = (await response.json()) as Fields
    return { status: response.status, count: body['count'] }
  }

  it.each([
    ['$lt', 1e20, 1],
    ['$lte', 2 ** 53, 1],
    ['$gt', -1e308, 1],
    ['$eq', 2 ** 64, 0],
  ])('200 where a number is %s %d', async (operator, literal, expected) => {
    const compared = { [operator]: [{ $getField: 'inputs.n' }, { $literal: literal }] }
    expect(await count(compared)).toEqual({ status: 200, count: expected })
  })

  it('200 where a number is among large ones', async () => {
    const among = (literals: number[]): object => ({
      $in: [{ $getField: 'inputs.n' }, literals.map((literal) => ({ $literal: literal }))],
    })
    expect(await count(among([3, 1e20]))).toEqual({ status: 200, count: 1 })
    expect(await count(among([2 ** 53, 0.5]))).toEqual({ status: 200, count: 0 })
  })

  it.each([
    ['$gt', 1767225604000, 0],
    ['$lt', 1e13, 1],
    ['$lt', 9.2e18, 1],
    ['$gt', -1e30, 1],
    ['$lt', '9999-12-31', 1],
    ['$gt', '0001-01-01', 1],
  ])('200 where a time is %s %s, which no call can have', async (operator, literal, expected) => {
    const compared = { [operator]: [{ $getField: 'started_at' }, { $literal: literal }] }
    expect(await count(compared)).toEqual({ status: 200, count: expected })
  })

  it.each([['2026-02-30'], ['2026-04-31T00:00:00Z'], ['2026-02-29'], ['2026-13-01']])(
    '400 for a day that is in no calendar: %s',
    async (literal) => {
      const compared = { $gt: [{ $getField: 'started_at' }, { $literal: literal }] }
      expect((await count(compared)).status).toBe(400)
    },
  )

  it('200 for many indexes in one path, and for an invalid one', async () => {
    const path = `inputs.grid${'.1'.repeat(16)}.7`
    expect(await count({ $eq: [{ $getField: path }, { $literal: 'deep' }] })).toEqual({
      status: 200,
      count: 1,
    })
    const key = { $getField: 'inputs.99999999999999999999999' }
    expect(await count({ $eq: [key, { $literal: 'key' }] })).toEqual({ status: 200, count: 1 })
  })

  it.each(['$not', '$convert'])('200 or 400 for any number of %s in one another', async (operator) => {
    const field = { $getField: 'inputs.n' }
    const around = (inner: object): object =>
      operator === '$not' ? { $not: [inner] } : { $convert: { input: inner, to: 'double' } }
    const nested = (levels: number): object =>
      Array.from({ length: levels }).reduce<object>(around, operator === '$not' ? { $not: [field] } : field)
    const statusOf = async (levels: number): Promise<number> =>
      (await count(operator === '$not' ? nested(levels) : { $gt: [nested(levels), { $literal: 1 }] })).status
    expect(await statusOf(50)).toBe(200)
    for (const levels of [90, 120, 500, 2000]) expect([200, 400]).toContain(await statusOf(levels))
  })
})
