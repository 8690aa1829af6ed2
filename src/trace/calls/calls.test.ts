import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'

const server = useTestServer()

function start(project_id: string, fields: Fields = {}): Fields {
  return {
    project_id,
    id: newId(),
    trace_id: newId(),
    op_name: 'op',
    started_at: '2026-01-01T00:00:00.000001Z',
    attributes: {},
    inputs: {},
    ...fields,
  }
}

function end(call: Fields, fields: Fields = {}): Fields {
  return {
    project_id: call['project_id'],
    id: call['id'],
    ended_at: '2026-01-01T00:00:01.5Z',
    summary: {},
    ...fields,
  }
}

async function upsert(...items: { start?: Fields; end?: Fields }[]): Promise<Response> {
  const batch = items.map((item) => ({ mode: item.start ? 'start' : 'end', req: item }))
  return server.post('/call/upsert_batch', { batch })
}

async function query(project_id: string, fields: Fields = {}): Promise<Record<string, never>[]> {
  const response = await server.post('/calls/stream_query', { project_id, ...fields })
  return documentsOf(response)
}

async function ids(project_id: string, fields: Fields): Promise<unknown[]> {
  return (await query(project_id, fields)).map((call) => call['id'])
}

const field = (path: string) => ({ $getField: path })
const literal = (value: unknown) => ({ $literal: value })

describe('POST /call/start and /call/end', () => {
  it('200 and the call is readable at once, as running and then as finished', async () => {
    const call = start(server.newProject(), { inputs: { a: 1 } })
    const started = await server.post('/call/start', { start: call })
    expect(await started.json()).toEqual({ id: call['id'], trace_id: call['trace_id'] })
    expect(await query(String(call['project_id']))).toMatchObject([
      { ended_at: null, summary: { weave: { status: 'running' } } },
    ])

    await server.post('/call/end', {
      end: end(call, { output: [1], summary: { usage: {}, weave: { status: 'made up' } } }),
    })
    expect(await query(String(call['project_id']))).toMatchObject([
      {
        inputs: { a: 1 },
        output: [1],
        summary: { usage: {}, weave: { status: 'success', latency_ms: 1499, trace_name: 'op' } },
      },
    ])
  })

  it('200 with made ids when none are given', async () => {
    const response = await server.post('/call/start', {
      start: { ...start(server.newProject()), id: null, trace_id: null },
    })
    expect(await response.json()).toEqual({ id: expect.any(String), trace_id: expect.any(String) })
  })

  it('400 for invalid ids, 422 for times', async () => {
    const project = server.newProject()
    const late = await server.post('/call/start', { start: start(project, { started_at: 'yesterday' }) })
    expect(late.status).toBe(422)
    expect(await late.json()).toMatchObject({ detail: [{ loc: ['body', 'start', 'started_at'] }] })
    for (const bad of [
      { id: 'x' },
      { trace_id: "'; DROP TABLE calls" },
      { parent_id: 'x' },
      { op_name: 'weave:///a/b/object/o:1' },
    ]) {
      const response = await server.post('/call/start', { start: start(project, bad) })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({ reason: expect.any(String) })
    }
    expect(await query(project)).toEqual([])
  })

  it('422 for missing and wrong fields', async () => {
    const response = await server.post('/call/start', { start: { project_id: 1, inputs: [] } })
    expect(response.status).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: string[]; type: string }[] }
    expect(detail.map((item) => [item.loc.join('.'), item.type])).toEqual([
      ['body.start.project_id', 'string_type'],
      ['body.start.op_name', 'missing'],
      ['body.start.started_at', 'missing'],
      ['body.start.attributes', 'missing'],
      ['body.start.inputs', 'dict_type'],
    ])
  })
})

describe('POST /call/upsert_batch', () => {
  it('merges parts in any order, any number of times', async () => {
    const project = server.newProject()
    const call = start(project, { inputs: { a: 1 } })
    const ended = end(call, { output: 'done', exception: null })
    await upsert({ end: ended })
    expect(await query(project)).toEqual([])
    await upsert({ start: call })
    await upsert({ end: ended }, { start: call })
    expect(await query(project)).toMatchObject([
      { inputs: { a: 1 }, output: 'done', summary: { weave: { status: 'success' } } },
    ])
  })

  it('keeps numbers and key order as they were sent', async () => {
    const project = server.newProject()
    const inputs = '{"2":1.0,"1":12345678901234567890,"e":1e-07,"__proto__":{"x":-0.0}}'
    const body = JSON.stringify({ batch: [{ mode: 'start', req: { start: start(project) } }] })
    await server.request('/call/upsert_batch', {
      method: 'POST',
      body: body.replace('"inputs":{}', `"inputs":${inputs}`),
    })
    const response = await server.post('/calls/stream_query', { project_id: project })
    expect(await response.text()).toContain(`"inputs":${inputs}`)
  })
})

describe('POST /v2/{entity}/{project}/calls/complete', () => {
  it('200 and the path names the project', async () => {
    const project = server.newProject()
    const call = { ...start('other/project'), ...end({}), id: newId(), output: null }
    const response = await server.post(`/v2/${project}/calls/complete`, { batch: [call, call] })
    expect(await response.json()).toEqual({})
    expect(await query(project)).toMatchObject([{ project_id: project, id: call.id, output: null }])
    expect(await query('other/project')).toEqual([])
  })
})

describe('POST /call/read', () => {
  it('200 with null for an unknown call and for a call of another project', async () => {
    const call = start(server.newProject())
    await upsert({ start: call })
    for (const [project_id, id] of [
      [call['project_id'], newId()],
      [server.newProject(), call['id']],
    ]) {
      const response = await server.post('/call/read', { project_id, id })
      expect(await response.json()).toEqual({ call: null })
    }
  })
})

describe('POST /call/update', () => {
  it('sets and resets the display name; the last writer wins', async () => {
    const project = server.newProject()
    const call = start(project)
    await upsert({ start: call })
    await server.post('/call/update', { project_id: project, call_id: call['id'], display_name: 'shown' })
    const [named] = await query(project)
    expect(named).toMatchObject({ display_name: 'shown', summary: { weave: { display_name: 'shown' } } })
    expect(named?.['summary']?.['weave']).not.toHaveProperty('trace_name')
    await server.post('/call/update', { project_id: project, call_id: call['id'], display_name: '' })
    expect(await query(project)).toMatchObject([
      { display_name: null, summary: { weave: { trace_name: 'op' } } },
    ])
  })

  it('400 without a display name', async () => {
    const response = await server.post('/call/update', { project_id: server.newProject(), call_id: newId() })
    expect(response.status).toBe(400)
  })
})

describe('POST /calls/delete', () => {
  it('deletes descendants too, also those whose parts are written later', async () => {
    const project = server.newProject()
    const root = start(project)
    const child = start(project, { trace_id: root['trace_id'], parent_id: root['id'] })
    const grandchild = start(project, { trace_id: root['trace_id'], parent_id: child['id'] })
    await upsert({ start: root }, { start: child }, { start: grandchild })
    const response = await server.post('/calls/delete', { project_id: project, call_ids: [child['id']] })
    expect(await response.json()).toEqual({ num_deleted: 2 })
    await upsert({ end: end(child) })
    expect(await ids(project, {})).toEqual([root['id']])
  })

  it('413 for more than 1000 ids', async () => {
    const call_ids = Array.from({ length: 1001 }, newId)
    const response = await server.post('/calls/delete', { project_id: server.newProject(), call_ids })
    expect(response.status).toBe(413)
  })
})

describe('POST /calls/stream_query', () => {
  const project = 'test/stream-query'
  const op = `weave:///${project}/op/add:abc`
  const root = start(project, {
    op_name: op,
    inputs: { n: 3, s: 'three', nested: { 'a.b': [10, { x: true }] } },
  })
  const child = start(project, {
    parent_id: root['id'],
    trace_id: root['trace_id'],
    thread_id: 't1',
    started_at: '2026-01-02T00:00:00Z',
    inputs: { n: '10', ref: `weave:///${project}/object/o:v1` },
  })
  const failed = start(project, {
    started_at: '2026-01-03T00:00:00Z',
    inputs: { n: null },
    attributes: { env: 'prod' },
  })
  const seed = upsertOnce()

  function upsertOnce(): () => Promise<unknown> {
    let done: Promise<unknown> | undefined
    return () =>
      (done ??= upsert(
        { start: root },
        { start: child },
        { start: failed },
        { end: end(failed, { exception: 'boom' }) },
        { end: end(root, { summary: { status_counts: { error: 1 } } }) },
      ))
  }

  const convert = (path: string, to: string) => ({ $convert: { input: field(path), to } })
  const cases: [string, unknown, Fields[]][] = [
    ['$eq number', { $eq: [field('inputs.n'), literal(3)] }, [root]],
    ['$gt number reads numeric text', { $gt: [field('inputs.n'), literal(3)] }, [child]],
    ['$gte converted', { $gte: [convert('inputs.n', 'double'), literal(3)] }, [root, child]],
    [
      '$lt and $lte',
      { $and: [{ $lt: [field('inputs.n'), literal(10)] }, { $lte: [field('inputs.n'), literal(3)] }] },
      [root],
    ],
    ['$eq null finds missing and null', { $eq: [field('inputs.n'), literal(null)] }, [failed]],
    ['$not', { $not: [{ $eq: [field('inputs.s'), literal('three')] }] }, [child, failed]],
    [
      '$or',
      {
        $or: [
          { $eq: [field('inputs.s'), literal('three')] },
          { $eq: [field('attributes.env'), literal('prod')] },
        ],
      },
      [root, failed],
    ],
    ['$in', { $in: [field('id'), [literal(root['id']), literal(child['id'])]] }, [root, child]],
    [
      '$contains',
      { $contains: { input: field('inputs.s'), substr: literal('HRE'), case_insensitive: true } },
      [root],
    ],
    ['escaped dots and indexes', { $eq: [field('inputs.nested.a\\.b.1.x'), literal(true)] }, [root]],
    ['exists', { $eq: [convert('inputs.s', 'exists'), literal(true)] }, [root]],
    [
      'status',
      { $in: [field('summary.weave.status'), [literal('error'), literal('running')]] },
      [child, failed],
    ],
    ['descendant_error', { $eq: [field('summary.weave.status'), literal('descendant_error')] }, [root]],
    ['trace_name', { $eq: [field('summary.weave.trace_name'), literal('add')] }, [root]],
    ['unix seconds', { $gt: [field('started_at'), literal(1767312000 - 1)] }, [child, failed]],
    ['a date', { $lt: [field('started_at'), literal('2026-01-02')] }, [root]],
    ['literals on both sides', { $eq: [literal('1'), literal('1')] }, [root, child, failed]],
    ['SQL in a path', { $eq: [field("inputs.n'] OR 1=1 --"), literal(3)] }, []],
    ['SQL in a literal', { $eq: [field('inputs.s'), literal("' OR 1=1 --")] }, []],
  ]
  it.each(cases)('query: %s', async (_name, $expr, expected) => {
    await seed()
    expect(await ids(project, { query: { $expr } })).toEqual(expected.map((call) => call['id']))
  })

  const filters: [Fields, Fields[]][] = [
    [{ trace_roots_only: true }, [root, failed]],
    [{ op_names: [`weave:///${project}/op/add:*`] }, [root]],
    [{ op_names: ['op'] }, [child, failed]],
    [{ input_refs: [`weave:///${project}/object/o:*`] }, [child]],
    [{ parent_ids: [root['id']] }, [child]],
    [{ trace_ids: [root['trace_id']] }, [root, child]],
    [{ thread_ids: ['t1'] }, [child]],
    [{ thread_ids: [] }, []],
    [{ call_ids: [] }, [root, child, failed]],
    [{ turn_ids: [], op_names: [] }, [root, child, failed]],
    [{ turn_ids: [], trace_ids: [root['trace_id']] }, []],
    [{ turn_ids: [], trace_roots_only: false }, []],
    [{ wb_user_ids: ['local'], turn_ids: null }, [root, child, failed]],
  ]
  it.each(filters)('filter: %j', async (filter, expected) => {
    await seed()
    expect(await ids(project, { filter })).toEqual(expected.map((call) => call['id']))
  })

  const sorts: [Fields, Fields[]][] = [
    [{ sort_by: [{ field: 'started_at', direction: 'desc' }] }, [failed, child, root]],
    [{ sort_by: [{ field: 'inputs.n', direction: 'desc' }] }, [child, root, failed]],
    [{ sort_by: [], limit: 1, offset: 1 }, [child]],
    [{ limit: 0 }, []],
  ]
  it.each(sorts)('order and page: %j', async (page, expected) => {
    await seed()
    expect(await ids(project, page)).toEqual(expected.map((call) => call['id']))
  })

  it('reads only the requested payloads, and still derives the status', async () => {
    await seed()
    const [call] = await query(project, { columns: ['inputs.n'], limit: 1 })
    expect(call).toMatchObject({ inputs: { n: 3 }, attributes: {}, output: null })
    expect(call?.['summary']).toMatchObject({ weave: { status: 'descendant_error' } })
  })

  it('shows feedback on request', async () => {
    await seed()
    const said = {
      project_id: project,
      weave_ref: `weave:///${project}/call/${child['id']}`,
      payload: { reward: 1.0 },
    }
    await server.post('/feedback/create', { ...said, feedback_type: 'reward' })
    const calls = await query(project, { include_feedback: true })
    expect(calls.map((call) => call['summary']?.['weave']?.['feedback'])).toMatchObject([
      [],
      [{ feedback_type: 'reward', payload: { reward: 1 }, weave_ref: said.weave_ref }],
      [],
    ])
  })

  it('shows sizes on request', async () => {
    await seed()
    const calls = await query(project, { include_storage_size: true, include_total_storage_size: true })
    const sizes = calls.map((call) => Number(call['storage_size_bytes']))
    expect(sizes.every((size) => size > 0)).toBe(true)
    const totals = calls.map((call) => call['total_storage_size_bytes'])
    expect(totals).toEqual([(sizes[0] ?? 0) + (sizes[1] ?? 0), null, sizes[2]])
  })

  it.each([
    [403, { sort_by: [{ field: 'inputs; DROP TABLE calls', direction: 'asc' }] }],
    [403, { query: { $expr: { $eq: [field('nope'), literal(1)] } } }],
    [403, { query: { $expr: { $eq: [field('inputs..a'), literal(1)] } } }],
    [400, { query: { $expr: { $and: [] } } }],
    [400, { limit: -1 }],
    [400, { filter: { call_ids: Array.from({ length: 1001 }, String) } }],
    [422, { query: { $expr: { $regex: [field('id'), literal('x')] } } }],
    [422, { query: { $expr: { $eq: [field('id')] } } }],
    [422, { sort_by: [{ field: 'id', direction: 'up' }] }],
  ])('%i for %j', async (status, body) => {
    const response = await server.post('/calls/stream_query', { project_id: project, ...body })
    expect(response.status).toBe(status)
  })
})

describe('many readers', () => {
  it('200 for more long lists at once than the database serves, in the right order', async () => {
    const project = server.newProject()
    const calls = Array.from({ length: 1500 }, (_, index) =>
      start(project, { started_at: new Date(index).toISOString(), inputs: { index } }),
    )
    await upsert(...calls.map((call) => ({ start: call })))
    const lists = await Promise.all(Array.from({ length: 12 }, () => ids(project, {})))
    for (const list of lists) expect(list).toEqual(calls.map((call) => call['id']))
  })
})

describe('POST /calls/query_stats', () => {
  it('counts up to the limit and reports whether there are more', async () => {
    const project = server.newProject()
    await upsert({ start: start(project) }, { start: start(project) })
    const count = async (fields: Fields) =>
      (await server.post('/calls/query_stats', { project_id: project, ...fields })).json()
    expect(await count({})).toEqual({ count: 2, total_storage_size_bytes: null, has_more: null })
    expect(await count({ limit: 1 })).toMatchObject({ count: 1, has_more: true })
    expect(await count({ limit: Number.MAX_SAFE_INTEGER })).toMatchObject({ count: 2, has_more: false })
    expect(await count({ include_total_storage_size: true })).toMatchObject({ total_storage_size_bytes: 8 })
  })
})
