import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'

const server = useTestServer()

describe('POST /sdk/otel/v1/metrics and /sdk/otel/v1/logs', () => {
  it("200 for the clients' telemetry, with and without a key", async () => {
    for (const path of ['/sdk/otel/v1/metrics', '/sdk/otel/v1/logs']) {
      const response = await server.request(path, {
        method: 'POST',
        headers: { authorization: '' },
        body: 'x',
      })
      expect([response.status, await response.text()]).toEqual([200, ''])
      expect((await server.request(path, { method: 'POST' })).status).toBe(200)
    }
  })

  it('413 for a body that is too large', async () => {
    const body = new Uint8Array(5 * 1024 * 1024)
    expect((await server.request('/sdk/otel/v1/metrics', { method: 'POST', body })).status).toBe(413)
  })
})
