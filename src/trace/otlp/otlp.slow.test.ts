import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import {
  callsOf,
  exportSpans,
  keyValues,
  protobufOf,
  replyIn,
  requestOf,
  START,
  spanOf,
} from './test-spans.ts'

const server = useTestServer()

const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/x-protobuf'

function send(body: Uint8Array | string, headers: Record<string, string>, path = '/otel/v1/traces') {
  return server.request(path, { method: 'POST', headers, body: Buffer.from(body) })
}

describe('POST /otel/v1/traces', () => {
  const encodings = [
    { type: JSON_TYPE, encoding: 'identity', encode: (body: Uint8Array) => body },
    { type: `${JSON_TYPE}; charset=utf-8`, encoding: 'gzip', encode: gzipSync },
    { type: PROTOBUF, encoding: 'identity', encode: (body: Uint8Array) => body },
    { type: PROTOBUF, encoding: 'gzip', encode: gzipSync },
    { type: PROTOBUF, encoding: 'deflate', encode: deflateSync },
  ]

  it.each(encodings)('200 for $type in $encoding, answered alike', async ({ type, encoding, encode }) => {
    const project = server.newProject()
    const span = spanOf({ attributes: { 'input.value': 'hi', n: 2n ** 62n, d: 0.5, b: [true] } })
    const request = requestOf([span])
    const body = type === PROTOBUF ? protobufOf(request) : Buffer.from(JSON.stringify(request))
    const headers = { 'content-type': type, 'content-encoding': encoding, project_id: project }
    const reply = await send(encode(body), headers)
    const bytes = await reply.arrayBuffer()
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe(type.split(';')[0])
    expect(type === PROTOBUF ? replyIn(bytes) : JSON.parse(Buffer.from(bytes).toString())).toEqual({})
    expect(await callsOf(server, project)).toMatchObject([
      {
        id: span.spanId,
        trace_id: span.traceId,
        inputs: { 'input.value': 'hi' },
        attributes: {
          otel_span: {
            attributes: { input: { value: 'hi' }, n: 2 ** 62, d: 0.5, b: [true] },
            resource: { attributes: { service: { name: 'test' } } },
          },
        },
      },
    ])
  })

  it.each(['/v1/traces', '/agents/otel/v1/traces', '/traces/otel/v1/traces'])(
    '200 at %s too',
    async (path) => {
      const headers = { 'content-type': PROTOBUF, project_id: server.newProject() }
      const reply = await send(protobufOf(requestOf([spanOf()])), headers, path)
      expect(reply.status).toBe(200)
      expect(await callsOf(server, headers.project_id)).toHaveLength(1)
    },
  )

  it.each([
    { type: PROTOBUF, body: '' },
    { type: JSON_TYPE, body: '{}' },
    { type: JSON_TYPE, body: '{"resourceSpans":[{}]}' },
  ])('200 for no spans: $type $body', async ({ type, body }) => {
    expect((await send(body, { 'content-type': type })).status).toBe(200)
  })

  it.each([
    ['the same span twice', (spans: object[]) => [...spans, ...spans]],
    ['a child before its parent', (spans: object[]) => spans.toReversed()],
  ])('200 for %s, with the calls it would be otherwise', async (_what, order) => {
    const parent = spanOf({ name: 'parent' })
    const child = spanOf({
      name: 'child',
      traceId: parent.traceId,
      parentSpanId: parent.spanId,
      startTimeUnixNano: String(START + 1_000_000n),
    })
    const plain = server.newProject()
    await exportSpans(server, plain, parent, child)
    const other = server.newProject()
    for (const span of order([parent, child])) await exportSpans(server, other, span as typeof parent)
    const seen = JSON.stringify(await callsOf(server, other)).replaceAll(other, plain)
    expect(JSON.parse(seen)).toEqual(await callsOf(server, plain))
    expect(await callsOf(server, other)).toMatchObject([
      { id: parent.spanId, parent_id: null },
      { id: child.spanId, parent_id: parent.spanId, trace_id: parent.traceId },
    ])
  })

  it('200 with a span rejected whose id the request has in another trace, since it would replace that call', async () => {
    const project = server.newProject()
    const span = spanOf({ name: 'first' })
    const other = spanOf({ name: 'second', spanId: span.spanId })
    const headers = { 'content-type': JSON_TYPE, project_id: project }
    const reply = await send(JSON.stringify(requestOf([span, span, other, spanOf()])), headers)
    expect(await reply.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining(span.traceId) },
    })
    const calls = await callsOf(server, project)
    expect(calls).toHaveLength(2)
    expect(calls).toContainEqual(expect.objectContaining({ id: span.spanId, trace_id: span.traceId }))
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a name of dots', { attributes: { ['.'.repeat(200_000)]: 1 } }, 'dots'],
    ['a short span id', { spanId: 'ab' }, 'span id'],
    ['an id of zeros', { traceId: '0'.repeat(32) }, 'trace id'],
    ['an invalid parent', { parentSpanId: 'xyz' }, 'parent span id'],
    ['a time beyond 2262', { startTimeUnixNano: '18446744073709551615' }, 'time'],
    ['a name that is no text', { name: 5 }, 'name'],
    ['an invalid list', { events: {} }, 'events'],
    ['an invalid event', { events: [1] }, 'Event'],
    ['a malformed ref', { attributes: { 'input.value': 'weave:///x' } }, 'ref'],
  ])('200 with %s rejected and its neighbours taken', async (_what, wrong, reason) => {
    const project = server.newProject()
    const request = requestOf([spanOf(), { ...spanOf({ name: 'bad' }), ...wrong }, spanOf()])
    const headers = { 'content-type': JSON_TYPE, project_id: project }
    const reply = await send(JSON.stringify(request), headers)
    expect(await reply.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining(reason) },
    })
    expect(await callsOf(server, project)).toHaveLength(2)
    if ('attributes' in wrong) {
      const inProtobuf = await send(protobufOf(request), { ...headers, 'content-type': PROTOBUF })
      expect(replyIn(await inProtobuf.arrayBuffer())).toMatchObject({
        partialSuccess: { rejectedSpans: '1' },
      })
    }
  })

  it('200 with the first twenty reasons', async () => {
    const spans = Array.from({ length: 25 }, () => spanOf({ spanId: '00' }))
    const headers = { 'content-type': JSON_TYPE, project_id: server.newProject() }
    const reply = await send(JSON.stringify(requestOf(spans)), headers)
    const { partialSuccess } = (await reply.json()) as { partialSuccess: Record<string, string> }
    expect(partialSuccess['rejectedSpans']).toBe('25')
    expect(partialSuccess['errorMessage']?.split('; ')).toHaveLength(21)
    expect(partialSuccess['errorMessage']).toMatch(/; \.\.\.$/)
  })

  it('200 with the project of the resource where the request names none, without spans whose resource names none or a wrong one', async () => {
    const [entity, name] = server.newProject().split('/')
    const [, ofCaller] = server.newProject().split('/')
    const { resourceSpans } = requestOf([spanOf()]) as { resourceSpans: object[] }
    const from = (attributes: object) => ({
      ...resourceSpans[0],
      resource: { attributes: keyValues({ ...attributes }) },
    })
    const body = {
      resourceSpans: [
        from({ 'wandb.entity': entity, 'wandb.project': name }),
        from({ 'wandb.project': ofCaller }),
        from({ 'service.name': 'homeless' }),
        from({ 'wandb.entity': entity, 'wandb.project': 'a/b' }),
        from({ 'wandb.project': 'x'.repeat(200) }),
      ],
    }
    const reply = await send(JSON.stringify(body), { 'content-type': JSON_TYPE })
    expect(await reply.json()).toMatchObject({ partialSuccess: { rejectedSpans: '3' } })
    expect(await callsOf(server, `${entity}/${name}`)).toHaveLength(1)
    expect(await callsOf(server, `local/${ofCaller}`)).toHaveLength(1)
  })

  it('200 with the project of the resource where the request names another, and its entity where the resource names none', async () => {
    const [entity, ofRequest] = server.newProject().split('/')
    const [, ofResource] = server.newProject().split('/')
    const [, withoutEntity] = server.newProject().split('/')
    for (const resource of [
      { 'wandb.entity': 'local', 'wandb.project': ofResource },
      { 'wandb.project': withoutEntity },
      { 'wandb.entity': 'local' },
    ]) {
      const headers = { 'content-type': JSON_TYPE, project_id: `${entity}/${ofRequest}` }
      const reply = await send(JSON.stringify(requestOf([spanOf()], resource)), headers)
      expect(await reply.json()).toEqual({})
    }
    for (const project of [`local/${ofResource}`, `${entity}/${withoutEntity}`, `${entity}/${ofRequest}`])
      expect(await callsOf(server, project), project).toHaveLength(1)
  })

  it.each<[how: string, (project: string) => string]>([
    ['in Latin-1', (project) => project],
    ['in UTF-8', (project) => Buffer.from(project, 'utf8').toString('latin1')],
    ['percent-encoded', encodeURIComponent],
  ])('200 with the project that the header names %s', async (_how, inHeader) => {
    const project = `${server.newProject()} é 5%`
    const headers = { 'content-type': JSON_TYPE, project_id: inHeader(project) }
    expect((await send(JSON.stringify(requestOf([spanOf()])), headers)).status).toBe(200)
    expect(await callsOf(server, project)).toHaveLength(1)
  })

  it.each(['wandb-api-key', 'x-api-key'])('200 with the key in the header %s', async (name) => {
    const project = server.newProject()
    const [entity, named] = project.split('/')
    const body = requestOf([spanOf()], { 'wandb.entity': entity, 'wandb.project': named })
    const headers = { 'content-type': JSON_TYPE, authorization: '', [name]: 'any' }
    expect((await send(JSON.stringify(body), headers)).status).toBe(200)
    expect(await callsOf(server, project)).toHaveLength(1)
  })

  it.each([
    ['no project', {}, JSON.stringify(requestOf([spanOf()]))],
    ['a project without entity', { project_id: 'x' }, JSON.stringify(requestOf([spanOf()]))],
    ['malformed JSON', {}, '{'],
    ['another shape', {}, '{"resourceSpans":{}}'],
    ['an empty body', {}, ''],
    ['malformed protobuf', { 'content-type': PROTOBUF }, 'garbage'],
    ['a length beyond the end', { 'content-type': PROTOBUF }, '\x0a\x7f'],
    ['what is not gzip', { 'content-encoding': 'gzip' }, '{}'],
    ['half a gzip', { 'content-encoding': 'gzip' }, gzipSync('{}').subarray(0, 12)],
  ])('400 for %s', async (_what, headers, body) => {
    const reply = await send(body, { 'content-type': JSON_TYPE, ...headers })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toEqual({ reason: expect.stringMatching(/\w+ \w+/) })
  })

  it('401 without a key', async () => {
    const headers = { 'content-type': JSON_TYPE, authorization: '', 'wandb-api-key': '' }
    expect((await send('{}', headers)).status).toBe(401)
  })

  it.each([
    ['a body that grows when it is decompressed', gzipSync(Buffer.alloc(33 * 1024 * 1024)), 'gzip'],
    ['a body over the limit', Buffer.alloc(33 * 1024 * 1024), 'identity'],
    ['more fields than are decoded', gzipSync(Buffer.alloc(10_000_000, '\x0a\x00')), 'gzip'],
    ['more spans than are taken', gzipSync(protobufOf(requestOf(Array(50_001).fill(spanOf())))), 'gzip'],
  ])('413 for %s', async (_what, body, encoding) => {
    const headers = { 'content-type': PROTOBUF, 'content-encoding': encoding, project_id: 'a/b' }
    expect((await send(body, headers)).status).toBe(413)
  })

  it.each([
    { 'content-type': 'text/plain' },
    { 'content-type': '' },
    { 'content-type': PROTOBUF, 'content-encoding': 'br' },
  ])('415 for %j', async (headers) => {
    expect((await send('', headers)).status).toBe(415)
  })
})
