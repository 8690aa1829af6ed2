import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../ids.ts'
import { SILENT } from '../test-log.ts'
import { documentsOf, type Fields, useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { settingFor } from './test-collector.ts'

const project = `test/${newId()}`

/** The address of the server under test, where its own exports arrive. */
let exportsArrived = 0
const address = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  )
  const sent = { method: 'POST', headers, body: Buffer.concat(chunks) }
  // Before its calls can be read: a test that sees them has seen their export counted.
  exportsArrived++
  const reply = await server.request(request.url ?? '', sent)
  response.writeHead(reply.status).end(await reply.text())
})
address.listen(0, '127.0.0.1')
await once(address, 'listening')
const url = `http://127.0.0.1:${(address.address() as AddressInfo).port}`
const telemetry = openCollector(
  settingFor(url, {
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_HEADERS: `project_id=${encodeURIComponent(project)}`,
  }),
  SILENT,
)
const server = useTestServer({ telemetry })

afterAll(async () => {
  await telemetry[Symbol.asyncDispose]()
  address.close()
  address.closeAllConnections()
})

async function calls(): Promise<Fields[]> {
  // A client that records nothing, so that looking is not seen.
  const headers = { traceparent: `00-${newId().replaceAll('-', '')}-00f067aa0ba902b7-00` }
  const body = JSON.stringify({ project_id: project })
  return documentsOf<Fields>(await server.request('/calls/stream_query', { method: 'POST', headers, body }))
}

describe('a server that is its own collector', () => {
  it('keeps its spans as calls, and records nothing of their arrival', async () => {
    await server.request('/version')
    const names = await vi.waitFor(
      async () => {
        const found = await calls()
        expect(found).not.toEqual([])
        return found.map((call) => call['op_name'])
      },
      { timeout: 60_000 },
    )
    expect(names).toEqual([expect.stringContaining('get__version')])
    expect(exportsArrived).toBe(1)
    // Whatever the arrival of the first export had caused would be in a second one, which this one would follow.
    await server.request('/server_info')
    await vi.waitFor(async () => expect(await calls()).toHaveLength(2), { timeout: 60_000 })
    expect(exportsArrived).toBe(2)
  })
})
