import { describe, expect, it, vi } from 'vitest'
import { newId } from '../ids.ts'
import { SILENT } from '../test-log.ts'
import { useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { type ArrivedSpan, settingFor, startTestCollector } from './test-collector.ts'

const collector = await startTestCollector()
const telemetry = openCollector(
  settingFor(collector.url, {
    OTEL_SERVICE_NAME: 'loom',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%2C1',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20collector-key',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  }),
  SILENT,
)
const server = useTestServer({ telemetry })

/** A busy machine is slow. */
const WAIT = { timeout: 60_000 }

/** A request of a client that is traced; resolves with the spans of its trace. */
async function traced(path: string, init: RequestInit = {}, flags = '01') {
  const traceId = newId().replaceAll('-', '')
  const traceparent = `00-${traceId}-00f067aa0ba902b7-${flags}`
  const reply = await server.request(path, { ...init, headers: { ...init.headers, traceparent } })
  const spans = (): ArrivedSpan[] => collector.spans.filter((span) => span.traceId === traceId)
  return { reply, traceId, spans }
}

async function rootOf(spans: () => ArrivedSpan[]): Promise<ArrivedSpan> {
  return vi.waitFor(() => {
    const root = spans().find(({ kind }) => kind === 2)
    if (root === undefined) throw new Error('The span of the request has not arrived')
    return root
  }, WAIT)
}

function start(project_id: string, inputs: object) {
  const id = newId()
  const body = {
    start: {
      project_id,
      id,
      op_name: 'secret-op',
      started_at: '2026-01-01T00:00:00Z',
      attributes: {},
      inputs,
      trace_id: newId(),
    },
  }
  return traced('/call/start', { method: 'POST', body: JSON.stringify(body) })
}

describe('spans of requests', () => {
  it('are children of what the client traces, with the statements of both databases below them', async () => {
    const project = server.newProject()
    const { reply, spans } = await start(project, { question: 'payload-text' })
    expect(reply.status).toBe(200)
    const root = await rootOf(spans)
    expect(root).toMatchObject({
      name: 'POST /call/start',
      parentSpanId: '00f067aa0ba902b7',
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/call/start',
        'http.response.status_code': 200,
        'heddle.operation': 'call_start',
        'heddle.entity': 'test',
        'heddle.project': project.replace('test/', ''),
        'heddle.request_id': reply.headers.get('x-request-id'),
      },
    })
    const insert = await vi.waitFor(() => {
      const found = spans().find(({ name }) => name === 'INSERT calls')
      if (found === undefined) throw new Error('No insert has arrived')
      return found
    }, WAIT)
    expect(insert).toMatchObject({
      kind: 3,
      parentSpanId: root.spanId,
      attributes: { 'db.system.name': 'clickhouse', 'db.operation.batch.size': 1 },
    })
    expect(insert.ms).toBeGreaterThan(0)
    expect(collector.resource).toMatchObject({
      'service.name': 'loom',
      'deployment.environment.name': 'test,1',
    })
  })

  it('have queries of both databases, which end with their last row', async () => {
    const project_id = server.newProject()
    await start(project_id, {})
    const query = { method: 'POST', body: JSON.stringify({ project_id }) }
    const { reply, spans } = await traced('/calls/stream_query', query)
    await reply.text()
    const root = await rootOf(spans)
    await vi.waitFor(
      () =>
        expect(
          spans().filter(
            ({ parentSpanId, attributes }) =>
              parentSpanId === root.spanId && attributes['db.operation.name'] === 'SELECT',
          ),
        ).not.toEqual([]),
      WAIT,
    )
    const listed = await traced('/v1/preview/models?limit=1')
    await vi.waitFor(
      () =>
        expect(listed.spans()).toContainEqual(
          expect.objectContaining({ attributes: expect.objectContaining({ 'db.system.name': 'sqlite' }) }),
        ),
      WAIT,
    )
  })

  it('have no payloads, keys, names of ops, values of queries or query strings', async () => {
    const project = server.newProject()
    const { spans } = await start(project, { question: 'payload-text' })
    const filter = {
      project_id: project,
      query: { $expr: { $eq: [{ $getField: 'inputs.secret_field' }, { $literal: 'secret-literal' }] } },
    }
    const found = await traced('/calls/stream_query', { method: 'POST', body: JSON.stringify(filter) })
    await found.reply.text()
    const listed = await traced('/v1/preview/training-jobs?model_id=secret-value')
    for (const each of [spans, found.spans, listed.spans]) await rootOf(each)
    const all = collector.bytes().toString('latin1')
    expect(all).toContain('POST /call/start')
    for (const secret of ['payload-text', 'secret-', 'secret_', 'test-key', 'collector-key', 'Bearer'])
      expect(all).not.toContain(secret)
    expect(collector.requests.at(-1)?.headers.authorization).toBe('Bearer collector-key')
  })

  it('are failed where the server failed, and not where the client did', async () => {
    const refused = await traced('/call/start', { method: 'POST', body: '{}' })
    expect(refused.reply.status).toBe(422)
    expect(await rootOf(refused.spans)).toMatchObject({
      status: 0,
      attributes: { 'http.response.status_code': 422 },
    })
    const body = JSON.stringify({ model: 'test/base', messages: [{ role: 'user', content: 'hi' }] })
    const failed = await traced('/v1/chat/completions', { method: 'POST', body })
    expect(failed.reply.status).toBe(503)
    expect(await rootOf(failed.spans)).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 503, 'error.type': '503' },
    })
  })

  it('are not recorded where the client does not record its own', async () => {
    const { traceId } = await traced('/version', {}, '00')
    const { spans } = await traced('/version')
    await rootOf(spans)
    expect(collector.spans.some((span) => span.traceId === traceId)).toBe(false)
  })

  it.each([
    'garbage',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `ff-${'a'.repeat(32)}-00f067aa0ba902b7-01`,
  ])('begin a trace of their own where the header is %s', async (traceparent) => {
    const id = newId()
    await server.request('/version', { headers: { traceparent, 'x-request-id': id } })
    const span = await vi.waitFor(() => {
      const arrived = collector.spans.find(({ attributes }) => attributes['heddle.request_id'] === id)
      if (arrived === undefined) throw new Error('The span has not arrived')
      return arrived
    }, WAIT)
    expect(span.parentSpanId).toBe('')
    expect(span.traceId).toMatch(/^[\da-f]{32}$/)
  })
})
