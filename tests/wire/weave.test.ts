import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { KEY, type LoggedRequest, runClient, startServer, type WireServer } from './server.ts'

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Every kind of request a client made, with how often and which statuses it got. */
function summaryOf(requests: LoggedRequest[]): string[] {
  const kinds = Map.groupBy(requests, ({ method, path, status }) => `${method} ${path} ${status}`)
  return [...kinds].map(([kind, all]) => `${kind} ×${all.length}`).sort()
}

function failedOf(requests: LoggedRequest[]): LoggedRequest[] {
  return requests.filter(({ status }) => status >= 400)
}

describe('PyPI weave with only WANDB_BASE_URL and WANDB_API_KEY', () => {
  it.each([
    ['its defaults', {}],
    ['call batches of the older kind', { WEAVE_USE_CALLS_COMPLETE: 'false' }],
    ['digests computed by the client', { WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' }],
  ])('works with %s, without one failed request', async (_name, extra) => {
    // The client's response cache is not keyed by server: without a new one each time, nothing is sent.
    const cache = await mkdtemp(join(tmpdir(), 'heddle-weave-cache-'))
    const seen = await runClient([pythonIn('clients'), clientProgram('weave_basic.py')], {
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: KEY,
      WEAVE_SERVER_CACHE_DIR: cache,
      ...extra,
    })
    const requests = await server.takeRequests()
    console.log(summaryOf(requests).join('\n'))
    expect(failedOf(requests)).toEqual([])
    expect(seen).toMatchObject({
      calls: {
        roots: expect.any(Number),
        errors: expect.any(Number),
        threads: ['thread-1'],
        children: [1, 2],
        newest_first: true,
        output: { v: 4, u: 5 },
        display_name: 'renamed',
      },
      objects: {
        rows: [
          { q: 'a', n: 1 },
          { q: 'bb', n: 2 },
          { q: 'ccc', n: 4 },
        ],
        settings: { nested: { x: [1, 2.5, null] } },
        versions_differ: true,
        same_again: true,
        latest: 'changed',
        op_source: true,
      },
      evaluation: { summary: { right: { true_count: 2 } } },
      feedback: { types: ['wandb.reaction.1', 'wandb.note.1', 'reward'] },
    })
    const { calls, deleted } = seen as { calls: Record<string, unknown>; deleted: { gone: number } }
    expect(calls['calls']).toBe(calls['length'])
    expect(JSON.stringify(calls['marked_inputs'])).toContain('{"a":1,"b":12345678901234567000}')
    expect(deleted.gone).toBeGreaterThan(0)
  })
})

describe('PyPI weave, of whose batches one item is refused', () => {
  it.each([
    ['whole calls', {}],
    ['starts and ends', { WEAVE_USE_CALLS_COMPLETE: 'false' }],
  ])('loses that item alone: %s', async (name, extra) => {
    const seen = await runClient(
      [pythonIn('clients'), clientProgram('weave_refused_items.py'), `local/refused among ${name}`],
      { WANDB_BASE_URL: server.url, WANDB_API_KEY: KEY, ...extra },
    )
    const refusals = failedOf(await server.takeRequests())
    console.log(summaryOf(refusals).join('\n'))
    expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([422]))
    expect(seen).toEqual({
      calls: ['first', 'second', 'third'],
      feedback: ['wandb.note.1', 'latency', 'wandb.reaction.1'],
    })
  })
})

describe('npm weave', () => {
  it('works without one failed request', async () => {
    const seen = await runClient([process.execPath, clientProgram('weave_basic.mjs')], {
      WANDB_BASE_URL: server.url,
      WF_TRACE_SERVER_URL: server.url,
      WANDB_API_KEY: KEY,
    })
    const requests = await server.takeRequests()
    console.log(summaryOf(requests).join('\n'))
    expect(failedOf(requests)).toEqual([])
    expect(seen).toMatchObject({
      rows: [
        { q: 'a', n: 1 },
        { q: 'bb', n: 3 },
      ],
      summary: { true_count: 1 },
      errors: 1,
    })
    expect(seen['roots']).toEqual(expect.arrayContaining(['outer', 'fails']))
  })
})
