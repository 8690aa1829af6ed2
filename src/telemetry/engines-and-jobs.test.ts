import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { newId } from '../ids.ts'
import { createJobQueue } from '../jobs/job-queue.ts'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { NO_PEERS } from '../stores/control-db/peers.ts'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { SILENT } from '../test-log.ts'
import { useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { type ArrivedSpan, settingFor, startTestCollector } from './test-collector.ts'

const collector = await startTestCollector()
const telemetry = openCollector(settingFor(collector.url), SILENT)

/** A vLLM elsewhere that keeps the headers of requests for completions. */
const asked: { headers: IncomingHttpHeaders; body: string }[] = []
const vllm = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const json = (value: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
  if (request.url === '/v1/models') return json({ data: [{ id: 'test/base' }] })
  asked.push({ headers: request.headers, body })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return json({
    id: 'c',
    created: 1,
    object: 'text_completion',
    model: 'test/base',
    usage,
    choices: [{ index: 0, text: 'a', finish_reason: 'stop' }],
  })
})
vllm.listen(0, '127.0.0.1')
await once(vllm, 'listening')
const url = `http://127.0.0.1:${(vllm.address() as AddressInfo).port}`
const server = useTestServer({
  telemetry,
  compute: (folder) =>
    openFakeCompute(folder, { telemetry, remote: { urls: [url], workers: [], key: 'engine-key' } }),
})

afterAll(async () => {
  await telemetry[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
  vllm.close()
  vllm.closeAllConnections()
})

/** A busy machine is slow. */
const WAIT = { timeout: 60_000 }

function arrived(isIt: (span: ArrivedSpan) => boolean): Promise<ArrivedSpan> {
  return vi.waitFor(() => {
    const span = collector.spans.find(isIt)
    if (span === undefined) throw new Error('The span has not arrived')
    return span
  }, WAIT)
}

describe('spans of completions', () => {
  it('reach the engine, which continues the trace of the client', async () => {
    const traceId = newId().replaceAll('-', '')
    const reply = await server.request('/v1/completions', {
      method: 'POST',
      body: JSON.stringify({ model: 'test/base', prompt: 'payload-text' }),
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' },
    })
    expect(reply.status).toBe(200)
    const root = await arrived((span) => span.traceId === traceId && span.kind === 2)
    const sent = asked.find(({ body }) => body.includes('payload-text'))
    const client = await arrived(
      (span) => span.traceId === traceId && span.name === 'POST /v1/completions' && span.kind === 3,
    )
    expect(client).toMatchObject({
      parentSpanId: root.spanId,
      attributes: {
        'url.path': '/v1/completions',
        'server.address': '127.0.0.1',
        'http.response.status_code': 200,
      },
    })
    expect(sent?.headers).toMatchObject({
      traceparent: `00-${traceId}-${client.spanId}-01`,
      tracestate: 'vendor=1',
      authorization: 'Bearer engine-key',
    })
    const all = collector.bytes().toString('latin1')
    for (const secret of ['payload-text', 'engine-key']) expect(all).not.toContain(secret)
  })

  it('of a client that records nothing pass its decision on', async () => {
    const traceId = newId().replaceAll('-', '')
    await server.request('/v1/completions', {
      method: 'POST',
      body: JSON.stringify({ model: 'test/base', prompt: 'not-recorded' }),
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-00` },
    })
    const sent = asked.find(({ body }) => body.includes('not-recorded'))
    expect(sent?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`))
  })

  it('are not part of the checks that watch an engine', () => {
    const probes = asked.filter(({ body }) => body.includes('"prompt":"a"'))
    for (const { headers } of probes) expect(headers['traceparent']).toBeUndefined()
  })
})

describe('spans of jobs', () => {
  it('are traces of their own, one an attempt, with what became of it', async () => {
    const control = await openTestControlDb()
    await using queue = new AsyncDisposableStack()
    const jobs = createJobQueue({ control, log: SILENT, peers: NO_PEERS, telemetry })
    const kind = newId()
    let attempts = 0
    const ofKind = jobs.define({
      kind,
      payload: z.object({}),
      concurrency: 1,
      attemptsMax: 3,
      retryMs: () => 1,
      giveUp: async () => undefined,
      async handle() {
        telemetry.child({ name: 'part', kind: 'client', attributes: { of: kind } }).end()
        attempts++
        if (attempts === 1) throw new RangeError('quotes payload-text')
      },
    })
    queue.use(await jobs.start())
    await ofKind.add([{ id: newId(), payload: {} }])
    const first = await arrived(
      ({ name, attributes }) => name === `job ${kind}` && attributes['heddle.job.attempt'] === 1,
    )
    const second = await arrived(
      ({ name, attributes }) => name === `job ${kind}` && attributes['heddle.job.attempt'] === 2,
    )
    expect(first).toMatchObject({
      parentSpanId: '',
      status: 2,
      kind: 5,
      attributes: { 'heddle.job.outcome': 'retry', 'error.type': 'RangeError' },
    })
    expect(second).toMatchObject({ status: 0, attributes: { 'heddle.job.outcome': 'completed' } })
    expect(second.traceId).not.toBe(first.traceId)
    const part = await arrived(({ name, parentSpanId }) => name === 'part' && parentSpanId === first.spanId)
    expect(part.attributes).toEqual({ of: kind })
  })

  it('begin no trace for what servers do by themselves', () => {
    const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === '')
    expect(roots.filter(({ name }) => !/^(job |POST |GET )/.test(name))).toEqual([])
  })
})
