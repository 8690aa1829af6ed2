import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../ids.ts'
import { openTestApp, type TestApp } from '../../../test-app.ts'
import { eventually } from '../../../test-eventually.ts'
import { documentsOf, replyOf } from '../../../testing.ts'
import { finishedCall } from '../../../trace/test-calls.ts'
import { startTestClickHouse, type TestClickHouse } from './test-server.ts'

const PROJECT = 'outage/calls'

/** Each kill comes in the midst of work: after so many calls since the one before. */
const CALLS_BETWEEN_KILLS = 150
const KILLS = 3
const WRITERS = 8
const BATCH = 5

let server: TestClickHouse
let opened: TestApp

beforeAll(async () => {
  server = await startTestClickHouse()
  const folder = await mkdtemp(join(tmpdir(), 'heddle-outage-'))
  opened = await openTestApp(folder, { stores: { clickhouse: { url: server.url('outage') } } })
})
afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const headers = { authorization: 'Bearer key' }

async function post(path: string, body: unknown): Promise<Response> {
  return opened.app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

describe('a trace database elsewhere that is killed', () => {
  it('has every call that was acknowledged, once; others are refused with 503 and Retry-After', async () => {
    const acknowledged: string[] = []
    const refusals: (string | null)[] = []
    let isDone = false

    /** Writes as clients do: a batch that was refused is sent again. */
    async function writer(): Promise<void> {
      while (!isDone) {
        const batch = Array.from({ length: BATCH }, () => finishedCall({ id: newId() }))
        for (;;) {
          const response = await post(`/v2/${PROJECT}/calls/complete`, { batch })
          if (response.status === 200) break
          expect(response.status).toBe(503)
          refusals.push(response.headers.get('retry-after'))
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        acknowledged.push(...batch.map(({ id }) => id))
      }
    }

    const writers = Array.from({ length: WRITERS }, writer)
    for (let kill = 0; kill < KILLS; kill++) {
      const from = acknowledged.length
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(from + CALLS_BETWEEN_KILLS))
      await server.kill()
      const refusedBefore = refusals.length
      await eventually(() => expect(refusals.length).toBeGreaterThan(refusedBefore))
      await server.start()
    }
    const from = acknowledged.length
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(from))
    isDone = true
    await Promise.all(writers)

    expect(new Set(refusals)).toEqual(new Set(['5']))
    const found = await documentsOf<{ id: string }>(
      await post('/calls/stream_query', { project_id: PROJECT }),
    )
    expect(found.map(({ id }) => id).sort()).toEqual(acknowledged.sort())
    const { count } = await replyOf<{ count: number }>(
      await post('/calls/query_stats', { project_id: PROJECT }),
    )
    expect(count).toBe(acknowledged.length)
  })

  it('is 503 at GET /health until it answers, and requests are refused without waiting', async () => {
    await server.kill()
    const health = async () => {
      const reply = await opened.app.request('/health')
      return { status: reply.status, body: await reply.json() }
    }
    await eventually(async () =>
      expect(await health()).toMatchObject({
        status: 503,
        body: { stores: { trace_db: { ok: false, error: expect.stringContaining('does not answer') } } },
      }),
    )
    const refused = await Promise.all(
      Array.from({ length: 20 }, () =>
        post(`/v2/${PROJECT}/calls/complete`, { batch: [finishedCall({ id: newId() })] }),
      ),
    )
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    await server.start()
    await eventually(async () => expect(await health()).toMatchObject({ status: 200 }))
  })
})
