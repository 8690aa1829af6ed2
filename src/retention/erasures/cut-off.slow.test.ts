import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../test-app.ts'
import { filesWith } from '../../test-files.ts'
import { finishedCall } from '../../trace/test-calls.ts'
import { tablesWith } from '../test-traces-of.ts'
import type { Erasure } from './wire.ts'

/** The database removes files of parts that were replaced some 40 s later. */
const GONE_MS_MAX = 900_000
vi.setConfig({ testTimeout: GONE_MS_MAX })

describe('DELETE /v2/{entity}/{project}, of servers that end meanwhile', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-test-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('200 after the next starts, and closed until then', async () => {
    const marker = 'qwertzuiopasdfghjklyxcvb'
    const project = 'test/doomed'
    let id = ''
    {
      await using first = await openTestApp(folder)
      const call = finishedCall({ inputs: { marker }, output: marker })
      await send(first, 'POST', `/v2/${project}/calls/complete`, { batch: [call] })
      await send(first, 'POST', '/obj/create', { obj: { project_id: project, object_id: 'o', val: marker } })
      id = (await send<Erasure>(first, 'DELETE', `/v2/${project}`)).id
    }
    {
      await using second = await openTestApp(folder)
      const reply = await request(second, 'POST', '/calls/stream_query', { project_id: project })
      expect(reply.status).toBe(404)
    }
    await using third = await openTestApp(folder)
    const done = await vi.waitFor(
      async () => {
        const erasure = await send<Erasure>(third, 'GET', `/v1/accounts/erasures/${id}`)
        expect(erasure.state).toBe('done')
        return erasure
      },
      { timeout: GONE_MS_MAX, interval: 500 },
    )
    expect(done.amounts).toContainEqual({ kind: 'calls', count: 1, bytes: expect.any(Number) })
    expect(await tablesWith(third.stores.traces, marker)).toEqual([])
    expect(await filesWith(folder, marker)).toEqual([])
  })
})

function request({ app }: TestApp, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: 'Bearer test-key' }
  return Promise.resolve(
    app.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  )
}

async function send<Reply>(app: TestApp, method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await request(app, method, path, body)
  const text = await reply.text()
  expect(reply.status, text).toBe(200)
  return JSON.parse(text) as Reply
}
