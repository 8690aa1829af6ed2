import { afterAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../ids.ts'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { SILENT } from '../test-log.ts'
import { useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { settingFor, startTestCollector } from './test-collector.ts'

const collector = await startTestCollector()
const telemetry = openCollector(settingFor(collector.url), SILENT)
const server = useTestServer({ telemetry, compute: openFakeCompute })

afterAll(async () => {
  await telemetry[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

describe('spans of stores elsewhere', () => {
  it('are those of statements of PostgreSQL and ClickHouse, and of none that has no request', async () => {
    const body = { project: 'proj', name: newId(), base_model: 'test/base' }
    expect((await server.post('/v1/preview/models', body)).status).toBe(200)
    const calls = await server.post('/calls/stream_query', { project_id: server.newProject() })
    await calls.text()
    const seen = () => collector.spans.map(({ name, attributes }) => [attributes['db.system.name'], name])
    await vi.waitFor(
      () => {
        expect(seen()).toContainEqual(['postgresql', 'INSERT models'])
        expect(seen()).toContainEqual(['postgresql', expect.stringMatching(/^SELECT \w+$/)])
        expect(seen()).toContainEqual(['clickhouse', 'SELECT calls'])
      },
      { timeout: 60_000 },
    )
    const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === '')
    for (const { name } of roots) expect(name).toMatch(/^(POST \/|job )/)
  })
})
