import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { callOf, callsOf, keyValues, protobufOf, replyIn, requestOf, spanOf } from './test-spans.ts'

const server = useTestServer()

const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/x-protobuf'

function send(body: Uint8Array | string, headers: Record<string, string>) {
  const sent = { 'content-type': JSON_TYPE, ...headers }
  return server.request('/otel/v1/traces', { method: 'POST', headers: sent, body: Buffer.from(body) })
}

describe('POST /otel/v1/traces', () => {
  const started_at = '2026-01-01T00:00:00.123457Z'

  it.each<[string, Record<string, unknown>, object]>([
    ['a count of tokens', { 'gen_ai.usage.input_tokens': '{"a":1}' }, { summary: {} }],
    ['a count of tokens by names', { 'gen_ai.usage.input_tokens.x': 1 }, { summary: {} }],
    ['a count of tokens in a list', { 'gen_ai.usage.input_tokens': '[{"a":1}]' }, { summary: {} }],
    ['a step', { 'wandb.wb_run_step': '{"a":1}' }, { wb_run_step: null }],
    ['a step in a list', { 'wandb.wb_run_step': [{ a: 1 }] }, { wb_run_step: null }],
    ['the last step', { 'wandb.wb_run_step_end.x': 1 }, { wb_run_step_end: null }],
    ['a time', { 'langfuse.startTime': '{"a":1}' }, { started_at }],
    ['a time by names', { 'langfuse.startTime.x': 1 }, { started_at }],
    ['a time in a list', { 'langfuse.startTime': [{ a: 1 }] }, { started_at }],
    ['a conversation', { 'gen_ai.conversation.id': { a: 1 } }, { thread_id: null, turn_id: null }],
    ['a name to show', { 'wandb.display_name': '[{"a":1}]' }, { display_name: null }],
    ['a run', { 'wandb.wb_run_id': { a: 1 } }, { wb_run_id: null }],
  ])('200 for an object where there should be %s, which is not', async (_what, attributes, shown) => {
    const call = await callOf(server, { attributes })
    expect(call).toMatchObject(shown)
    expect(call.summary).not.toHaveProperty('usage')
  })

  it('200 for spans of any name', async () => {
    const names = [
      'İ',
      'x',
      '\uD800',
      'e\u0301',
      '\u0301',
      'ﬃ',
      '🦋',
      '',
      '/',
      '𝒜'.repeat(200),
      `a${'𝒜'.repeat(200)}`,
    ]
    const project = server.newProject()
    const reply = await send(JSON.stringify(requestOf(names.map((name) => spanOf({ name })))), {
      project_id: project,
    })
    expect(await reply.json()).toEqual({})
    const ops = (await callsOf(server, project)).map(({ op_name }) => String(op_name).split(/[/:]/).at(-2))
    const named = ['i', 'x', 'unknown', 'e', 'unknown', 'ﬃ', 'unknown', 'unknown', '_']
    const long = [expect.stringMatching(/^𝒜{61}[0-9a-f]{4}$/u), expect.stringMatching(/^a𝒜{61}[0-9a-f]{4}$/u)]
    expect(ops).toEqual(expect.arrayContaining([...named, ...long]))
  })

  it('200 for a thread and a project that are numbers of 64 bits', async () => {
    const [, name = ''] = server.newProject().split('/')
    const project = BigInt(`9${name.replaceAll(/\D/g, '').slice(0, 3)}007199254740993`)
    const resource = { 'wandb.entity': { a: 1 }, 'wandb.project': project }
    const span = spanOf({ attributes: { 'wandb.thread_id': 2n ** 60n + 1n } })
    const reply = await send(JSON.stringify(requestOf([span], resource)), {})
    expect({ status: reply.status, body: await reply.json() }).toEqual({ status: 200, body: {} })
    const calls = await callsOf(server, `local/${project}`)
    expect(calls).toMatchObject([{ id: span.spanId, thread_id: '1152921504606846977' }])
  })

  it('400 for an object where there should be a project', async () => {
    const resource = { 'wandb.entity': 'e', 'wandb.project': { a: 1 } }
    expect((await send(JSON.stringify(requestOf([spanOf()], resource)), {})).status).toBe(400)
  })

  it.each([
    [JSON_TYPE, (request: Record<string, unknown>) => JSON.stringify(request)],
    [PROTOBUF, protobufOf],
  ])('200 for a name of too many parts, which stays as it is, in %s', async (type, encode) => {
    const project = server.newProject()
    const name = `${'a.'.repeat(5000)}b`
    const events = [{ name: 'e', timeUnixNano: '1', attributes: keyValues({ [name]: 2 }) }]
    const odd = spanOf({ attributes: { [name]: 1 }, events })
    const request = requestOf([odd, spanOf()], { [name]: 3 })
    const reply = await send(encode(request), { 'content-type': type, project_id: project })
    const bytes = await reply.arrayBuffer()
    expect(type === PROTOBUF ? replyIn(bytes) : JSON.parse(Buffer.from(bytes).toString())).toEqual({})
    const calls = await callsOf(server, project)
    expect(calls).toHaveLength(2)
    expect(calls.find(({ id }) => id === odd.spanId)).toMatchObject({
      attributes: {
        [name]: 1,
        otel_span: {
          attributes: { [name]: 1 },
          events: [{ attributes: { [name]: 2 } }],
          resource: { attributes: { [name]: 3 } },
        },
      },
    })
  })

  it('200 with a value nested too deeply rejected and its neighbours taken', async () => {
    const project = server.newProject()
    const request = requestOf([spanOf(), spanOf({ attributes: { deep: 'HERE' } }), spanOf()])
    const deep = `${'{"arrayValue":{"values":['.repeat(50_000)}{}${']}}'.repeat(50_000)}`
    const body = JSON.stringify(request).replace('{"stringValue":"HERE"}', deep)
    const reply = await send(body, { project_id: project })
    expect(await reply.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('deep') },
    })
    expect(await callsOf(server, project)).toHaveLength(2)
  })

  const NOTHING = {
    traceState: null,
    parentSpanId: null,
    kind: null,
    events: null,
    links: null,
    status: null,
    droppedAttributesCount: null,
  }

  it.each<[string, Record<string, unknown>]>([
    ['fields of a span', NOTHING],
    ['fields of its status', { status: { code: null, message: null } }],
    ['fields of an event', { events: [{ name: null, timeUnixNano: null, attributes: null }] }],
    ['fields of a link', { links: [{ traceId: null, spanId: null, attributes: null, flags: null }] }],
  ])('200 for null in %s, which counts as absent', async (_what, fields) => {
    expect(await callOf(server, fields)).toMatchObject({ parent_id: null, exception: null })
  })

  it('200 for null in attributes, which counts as absent', async () => {
    const attributes = [
      { key: 'a', value: null },
      { key: 'b', value: { stringValue: 'x', intValue: null } },
      { key: 'c', value: { arrayValue: { values: null } } },
      { key: 'd', value: { arrayValue: { values: [null, { intValue: 1 }] } } },
      { key: 'e', value: { kvlistValue: { values: [{ key: 'f', value: null }] } } },
    ]
    const span = { ...spanOf(), attributes }
    const project = server.newProject()
    const body = { resourceSpans: [{ resource: null, scopeSpans: [{ scope: null, spans: [span] }] }] }
    const reply = await send(JSON.stringify(body), { project_id: project })
    expect(await reply.json()).toEqual({})
    expect(await callsOf(server, project)).toMatchObject([
      { attributes: { otel_span: { attributes: { a: null, b: 'x', c: [], d: [null, 1], e: { f: null } } } } },
    ])
  })

  it.each([
    '{"resourceSpans":null}',
    '{"resourceSpans":[{"resource":null,"scopeSpans":null}]}',
    '{"resourceSpans":[{"resource":{"attributes":null},"scopeSpans":[{"spans":null}]}]}',
  ])('200 for no spans: %s', async (body) => {
    const reply = await send(body, {})
    expect({ status: reply.status, body: await reply.json() }).toEqual({ status: 200, body: {} })
  })
})
