import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { callOf, callsOf, eventOf, exportSpans, spanOf } from './test-spans.ts'

const server = useTestServer()

describe('POST /otel/v1/traces', () => {
  it('200 with the span as it was sent', async () => {
    const span = spanOf({
      name: 'GET /Users by Name!',
      kind: 3,
      traceState: 'k=v',
      parentSpanId: 'ABCDEF0123456789',
      status: { code: 1 },
      attributes: { a: '{"x": 1.0}', 'list.0.b': 1 },
      events: [{ timeUnixNano: '1767225600500000001', ...eventOf('e', { 'p.q': true }) }],
      links: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), flags: 1, attributes: [] }],
    })
    const project = server.newProject()
    await exportSpans(server, project, span)
    const [call] = await callsOf(server, project)
    expect(call).toMatchObject({
      op_name: expect.stringMatching(`^weave:///${project}/op/get__users_by_name:\\w{43}$`),
      parent_id: 'abcdef0123456789',
      started_at: '2026-01-01T00:00:00.123457Z',
      ended_at: '2026-01-01T00:00:01.623457Z',
      exception: null,
      summary: { weave: { status: 'success', latency_ms: 1500, trace_name: 'get__users_by_name' } },
      attributes: {
        otel_span: {
          name: 'GET /Users by Name!',
          context: { trace_id: span.traceId, span_id: span.spanId, trace_state: 'k=v' },
          kind: 'CLIENT',
          parent_id: 'ABCDEF0123456789',
          start_time: '2026-01-01T00:00:00.123457Z',
          end_time: '2026-01-01T00:00:01.623457Z',
          status: { code: 'OK', message: '' },
          attributes: { a: { x: 1 }, list: { 0: { b: 1 } } },
          events: [{ name: 'e', attributes: { p: { q: true } }, dropped_attributes_count: 0 }],
          links: [{ trace_id: '1'.repeat(32), span_id: '2'.repeat(16), flags: 1, attributes: {} }],
          resource: { attributes: { service: { name: 'test' } }, dropped_attributes_count: 0 },
        },
      },
    })
    const op = { project_id: project, object_id: 'get__users_by_name', digest: 'latest' }
    const read = await server.post('/obj/read', op)
    expect(await read.json()).toMatchObject({ obj: { kind: 'op', val: { weave_type: { type: 'Op' } } } })
  })

  it.each([
    ['its message', { status: { code: 2, message: 'boom' } }, 'boom'],
    [
      'its exception',
      {
        status: { code: 'STATUS_CODE_ERROR' },
        events: [eventOf('exception', { 'exception.message': 'bang' })],
      },
      'bang',
    ],
    ['a sentence', { status: { code: 2 } }, 'The span failed'],
  ])('200 for a span that failed, with %s', async (_what, fields, exception) => {
    const call = await callOf(server, fields)
    expect(call).toMatchObject({ exception, summary: { weave: { status: 'error' } } })
  })

  it.each([
    [
      'a conversation',
      { 'gen_ai.conversation.id': 'c' },
      { thread_id: 'c', turn_id: expect.stringMatching(/^\w{16}$/) },
    ],
    [
      'a session',
      { 'gcp.vertex.agent.session_id': 7 },
      { thread_id: '7', turn_id: expect.stringMatching(/^\w{16}$/) },
    ],
    ['a call within a thread', { 'wandb.thread_id': 't' }, { thread_id: 't', turn_id: null }],
    [
      'a turn of a thread',
      { 'wandb.thread_id': 't', 'wandb.is_turn': true },
      { thread_id: 't', turn_id: expect.stringMatching(/^\w{16}$/) },
    ],
    [
      "a turn of OpenInference's session, which is a root",
      { 'session.id': 's', 'openinference.span.kind': 'CHAIN' },
      { thread_id: 's', turn_id: expect.stringMatching(/^\w{16}$/) },
    ],
    ['a session of a browser', { 'session.id': 's' }, { thread_id: 's', turn_id: null }],
    ['a turn of nothing', { 'wandb.is_turn': true }, { thread_id: null, turn_id: null }],
    [
      'a name to show',
      { 'wandb.display_name': 'x'.repeat(2000) },
      { display_name: expect.stringMatching(/^x{1019}:\w{4}$/) },
    ],
    [
      'steps of a run',
      { 'wandb.wb_run_step': 3, 'wandb.wb_run_step_end': '4' },
      { wb_run_step: 3, wb_run_step_end: 4 },
    ],
    ['invalid steps', { 'wandb.wb_run_step': -1 }, { wb_run_step: null }],
    [
      "Langfuse's times",
      { 'langfuse.startTime': '2026-02-01T01:00:00.5+01:00', 'langfuse.endTime': 1_769_904_001_000_000_000n },
      { started_at: '2026-02-01T00:00:00.500000Z', ended_at: '2026-02-01T00:00:01.000000Z' },
    ],
    [
      'attributes of its own',
      { 'weave.span.kind': 'tool', 'wandb.attributes.team': 'red', 'wandb.attributes.n.0': 1 },
      { attributes: { kind: 'tool', team: 'red', n: [1] } },
    ],
    [
      'names that mean something to JavaScript',
      { a: '{"b":1}', 'a.__proto__.polluted': 1, '__proto__.x': 1, constructor: 2 },
      { attributes: { constructor: 2 } },
    ],
  ])('200 for %s', async (_what, attributes, shown) => {
    expect(await callOf(server, { attributes })).toMatchObject(shown)
    expect(Object.hasOwn(Object.prototype, 'polluted') || 'x' in {}).toBe(false)
  })

  it('200 with the run of a span', async () => {
    const project = server.newProject()
    await exportSpans(server, project, spanOf({ attributes: { 'wandb.wb_run_id': 'run-1' } }))
    expect(await callsOf(server, project)).toMatchObject([{ wb_run_id: `${project}/run-1` }])
  })

  it('200 for a long name and a span that has not ended', async () => {
    const call = await callOf(server, { name: 'n'.repeat(300), endTimeUnixNano: '0' })
    expect(call['op_name']).toMatch(/\/op\/n{123}\w{4}:\w{43}$/)
    expect(call['ended_at']).toBe(call['started_at'])
  })
})

describe('POST /calls/stream_query', () => {
  it('200 with spans below the root in the session, which are no turns', async () => {
    const attributes = { 'session.id': 's', 'openinference.span.kind': 'LLM' }
    const call = await callOf(server, { attributes, parentSpanId: 'ab'.repeat(8) })
    expect(call).toMatchObject({ thread_id: 's', turn_id: null })
  })

  it('200 with spans by their content, and their threads', async () => {
    const project = server.newProject()
    const slow = spanOf({
      name: 'slow op',
      attributes: { 'http.method': 'GET', 'gen_ai.conversation.id': 'c' },
    })
    const failed = spanOf({ name: 'failed', status: { code: 2 }, endTimeUnixNano: '0', attributes: { a: 1 } })
    await exportSpans(server, project, slow, failed)
    const found = async (field: string, literal: unknown) => {
      const query = { $expr: { $eq: [{ $getField: field }, { $literal: literal }] } }
      return (await callsOf(server, project, { query })).map(({ id }) => id)
    }
    expect(await found('attributes.http.method', 'GET')).toEqual([slow.spanId])
    expect(await found('attributes.otel_span.name', 'failed')).toEqual([failed.spanId])
    expect(await found('summary.weave.status', 'error')).toEqual([failed.spanId])
    expect(await found('summary.weave.trace_name', 'slow_op')).toEqual([slow.spanId])
    const op_names = [`weave:///${project}/op/slow_op:*`]
    expect(await callsOf(server, project, { filter: { op_names } })).toHaveLength(1)
    const threads = await server.post('/threads/stream_query', { project_id: project })
    expect(JSON.parse(await threads.text())).toMatchObject({ thread_id: 'c', turn_count: 1 })
  })
})
