import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { eventually } from '../../test-eventually.ts'
import { replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer({})

it('POST /v1/preview/system/backup is 409 where stores are elsewhere, which it names, and GET /health is 200', async () => {
  const reply = await server.post('/v1/preview/system/backup', { path: join(tmpdir(), newId()) })
  expect(reply.status).toBe(409)
  expect(await reply.text()).toMatch(/ClickHouse \(BACKUP DATABASE .* S3 .*OPERATIONS/)
  const well = { ok: true, error: null }
  await eventually(async () => {
    const health = await replyOf(await server.request('/health'))
    expect(health).toMatchObject({ stores: { trace_db: well, control_db: well, blobs: well } })
  })
})
