import { describe, expect, it } from 'vitest'
import { newId } from '../../../ids.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'

const server = useTestServer()

async function ok(path: string, body: unknown): Promise<Fields> {
  return replyOf(await server.post(path, body))
}

async function publish(project_id: string, object_id: string, val: unknown): Promise<string> {
  const { digest } = await ok('/obj/create', { obj: { project_id, object_id, val } })
  return `weave:///${project_id}/object/${object_id}:${digest}`
}

/** Writes calls, named in order. */
async function write(project_id: string, calls: Record<string, Fields>): Promise<void> {
  const batch = Object.entries(calls).map(([op_name, fields], index) =>
    finishedCall({
      op_name,
      started_at: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`,
      ended_at: '2026-01-01T01:00:00Z',
      ...fields,
    }),
  )
  await writeCalls(server, project_id, batch)
}

async function query(project_id: string, fields: Fields): Promise<Fields[]> {
  const response = await server.post('/calls/stream_query', { project_id, ...fields })
  return documentsOf(response)
}

async function names(project_id: string, fields: Fields): Promise<unknown[]> {
  return (await query(project_id, fields)).map((call) => call['op_name'])
}

const field = (path: string) => ({ $getField: path })
const literal = (value: unknown) => ({ $literal: value })
const where = (operation: string, path: string, value: unknown) => ({
  query: { $expr: { [operation]: [field(path), literal(value)] } },
})

/** Calls whose models are refs to objects, one of which refers to another, and one call that contains its model. */
async function seeded() {
  const project = server.newProject()
  const config = await publish(project, 'config', { temperature: 0.5, name: 'warm' })
  const one = await publish(project, 'model', { size: 1, config, list: [{ deep: 'x' }] })
  const two = await publish(project, 'model', { size: 10, config: { temperature: 0.1, name: 'cold' } })
  const unknown = `weave:///${project}/object/model:unknown`
  const { row_digests } = await ok('/table/create', { table: { project_id: project, rows: [{ q: 'why' }] } })
  const { digest } = await ok('/table/create', { table: { project_id: project, rows: [{ q: 'why' }] } })
  const dataset = await publish(project, 'data', { rows: `weave:///${project}/table/${digest}` })
  const row = `${dataset}/attr/rows/id/${(row_digests as string[])[0]}`
  await write(project, {
    one: { inputs: { model: one, example: row }, output: config },
    two: { inputs: { model: two } },
    raw: { inputs: { model: { size: 5, config: { temperature: 0.3 } } } },
    lost: { inputs: { model: unknown } },
    call: { inputs: { model: `weave:///${project}/call/${newId()}` } },
    other: { inputs: { model: 'no ref', example: 'weave:///else/where/object/o:v0' } },
  })
  return { project, config, one, two, unknown, row }
}

describe('POST /calls/stream_query with expand_columns', () => {
  it('200 with values in place of refs, each with its ref as `_ref`', async () => {
    const { project, config, one, row } = await seeded()
    const expand_columns = ['inputs.model.config', 'inputs.model', 'inputs.example', 'output']
    const calls = await query(project, { expand_columns })
    const warm = { temperature: 0.5, name: 'warm', _ref: config }
    expect(calls[0]).toMatchObject({
      inputs: {
        model: { size: 1, config: warm, list: [{ deep: 'x' }], _ref: one },
        example: { q: 'why', _ref: row },
      },
      output: warm,
    })
    expect(calls[1]).toMatchObject({ inputs: { model: { config: { name: 'cold' } } } })
  })

  it('200 with refs unchanged where they are unresolved, or not to be expanded', async () => {
    const { project, unknown, one, config } = await seeded()
    const calls = await query(project, { expand_columns: ['inputs.model', 'inputs.example', 'x', 'op_name'] })
    expect(calls[3]).toMatchObject({ inputs: { model: unknown } })
    expect(calls[4]).toMatchObject({ inputs: { model: expect.stringContaining('/call/') } })
    expect(calls[5]).toMatchObject({
      inputs: { model: 'no ref', example: 'weave:///else/where/object/o:v0' },
    })
    expect(calls[0]).toMatchObject({ inputs: { model: { config } }, output: config })
    const hidden = { expand_columns: ['inputs.model'], return_expanded_column_values: false }
    expect((await query(project, hidden))[0]).toMatchObject({ inputs: { model: one } })
  })

  it('200 for conditions and orders that look behind a thousand refs, of which one leads nowhere', async () => {
    const project = server.newProject()
    const rows = Array.from({ length: 1000 }, (_, index) => ({ q: `it's ${index}` }))
    const table = await ok('/table/create', { table: { project_id: project, rows } })
    const dataset = await publish(project, 'data', { rows: `weave:///${project}/table/${table['digest']}` })
    const refs = [...(table['row_digests'] as string[]), '0'.repeat(43)].map(
      (digest) => `${dataset}/attr/rows/id/${digest}`,
    )
    await writeCalls(
      server,
      project,
      refs.map((example, index) => finishedCall({ op_name: `call-${index}`, inputs: { example } })),
    )
    const expand_columns = ['inputs.example']
    const found = (fields: Fields) => names(project, { expand_columns, ...fields })
    expect(await found(where('$eq', 'inputs.example.q', "it's 777"))).toEqual(['call-777'])
    expect(await found(where('$eq', 'inputs.example.q', null))).toEqual(['call-1000'])
    const sort_by = [{ field: 'inputs.example.q', direction: 'desc' }]
    expect((await found({ sort_by })).slice(0, 2)).toEqual(['call-999', 'call-998'])
  })

  it('200 for conditions and orders that look behind refs', async () => {
    const { project } = await seeded()
    const expand_columns = ['inputs.model', 'inputs.model.config', 'inputs.example']
    const found = (fields: Fields) => names(project, { expand_columns, ...fields })
    expect(await found(where('$gt', 'inputs.model.size', 4))).toEqual(['two', 'raw'])
    expect(await found(where('$eq', 'inputs.model.config.name', 'warm'))).toEqual(['one'])
    expect(await found(where('$eq', 'inputs.model.list.0.deep', 'x'))).toEqual(['one'])
    expect(await found(where('$eq', 'inputs.example.q', 'why'))).toEqual(['one'])
    expect(await found(where('$eq', 'inputs.model.size', null))).toEqual(['lost', 'call', 'other'])
    const sorted = (direction: string) => ({
      sort_by: [{ field: 'inputs.model.config.temperature', direction }],
    })
    expect((await found(sorted('asc'))).slice(0, 3)).toEqual(['two', 'raw', 'one'])
    expect((await found(sorted('desc'))).slice(0, 3)).toEqual(['one', 'raw', 'two'])
    expect(await names(project, where('$gt', 'inputs.model.size', 4))).toEqual(['raw'])
    const stats = { project_id: project, expand_columns, ...where('$gt', 'inputs.model.size', 4) }
    expect(await ok('/calls/query_stats', stats)).toMatchObject({ count: 2 })
  })

  it('400 for too many fields behind refs', async () => {
    const { project } = await seeded()
    const sort_by = Array.from({ length: 11 }, (_, index) => ({
      field: `inputs.model.f${index}`,
      direction: 'asc',
    }))
    const body = { project_id: project, sort_by, expand_columns: ['inputs.model'] }
    expect((await server.post('/calls/stream_query', body)).status).toBe(400)
  })
})

describe('POST /calls/stream_query with fields of feedback', () => {
  async function said() {
    const project = server.newProject()
    await write(project, { a: {}, b: {}, c: {} })
    const ids = Object.fromEntries(
      (await query(project, {})).map((call) => [String(call['op_name']), String(call['id'])]),
    )
    const say = (call: string, feedback_type: string, payload: Fields, fields: Fields = {}) =>
      ok('/feedback/create', {
        project_id: project,
        weave_ref: `weave:///${project}/call/${ids[call]}`,
        feedback_type,
        payload,
        ...fields,
      })
    await say('a', 'wandb.note.1', { note: 'first' })
    await say('a', 'wandb.note.1', { note: 'second' })
    await say('b', 'wandb.note.1', { note: 'third' })
    await say('a', 'score', { value: { of: 1 } })
    await say('a', 'score', { value: { of: 7 } })
    await say('b', 'score', { value: { of: 10 } })
    const ref = `weave:///${project}/op/judge:v0`
    const refs = { runnable_ref: ref, call_ref: `weave:///${project}/call/${newId()}` }
    await say('c', 'wandb.runnable.judge', { output: 'fine' }, refs)
    return { project, ref }
  }

  it('200 where any note or reaction counts, and of other types the newest', async () => {
    const { project, ref } = await said()
    const found = (operation: string, path: string, value: unknown) =>
      names(project, where(operation, path, value))
    const note = 'feedback.[wandb.note.1].payload.note'
    expect(await found('$eq', note, 'first')).toEqual(['a'])
    expect(await found('$eq', note, 'second')).toEqual(['a'])
    expect(await found('$eq', note, null)).toEqual(['c'])
    expect(await found('$gt', 'feedback.[score].payload.value.of', 5)).toEqual(['a', 'b'])
    expect(await found('$eq', 'feedback.[score].payload.value.of', 1)).toEqual([])
    expect(await found('$eq', 'feedback.[score].payload.value.of', null)).toEqual(['c'])
    await server.post('/feedback/create', {
      project_id: project,
      weave_ref: `weave:///${project}/call/${(await query(project, {}))[1]?.['id']}`,
      feedback_type: 'score',
      payload: { value: null },
    })
    expect(await found('$gt', 'feedback.[score].payload.value.of', 5)).toEqual(['a'])
    expect(await found('$eq', 'feedback.[*].payload.note', 'third')).toEqual(['b'])
    expect(await found('$eq', 'feedback.[wandb.runnable.judge].runnable_ref', ref)).toEqual(['c'])
    expect(await found('$eq', 'feedback.[score].trigger_ref', 'x')).toEqual([])
  })

  it('200 with the other operators, in counts, and beside other conditions', async () => {
    const { project } = await said()
    const note = field('feedback.[wandb.note.1].payload.note')
    const found = ($expr: Fields) => names(project, { query: { $expr } })
    expect(await found({ $in: [note, [literal('second'), literal('third')]] })).toEqual(['a', 'b'])
    expect(
      await found({ $contains: { input: note, substr: literal('IR'), case_insensitive: true } }),
    ).toEqual(['a', 'b'])
    const exists = { $convert: { input: note, to: 'exists' } }
    expect(await found({ $eq: [exists, literal(true)] })).toEqual(['a', 'b'])
    expect(await found({ $not: [{ $eq: [note, literal('first')] }] })).toEqual(['b', 'c'])
    const text = { $convert: { input: note, to: 'string' } }
    expect(await found({ $eq: [text, literal('first')] })).toEqual(['a'])
    const number = { $convert: { input: note, to: 'double' } }
    expect(await found({ $gt: [number, literal(0)] })).toEqual([])
    const score = { $convert: { input: field('feedback.[score].payload.value.of'), to: 'double' } }
    const both = { $and: [{ $gte: [score, literal(7)] }, { $eq: [field('op_name'), literal('a')] }] }
    expect(await found(both)).toEqual(['a'])
    const stats = { project_id: project, query: { $expr: { $eq: [note, literal('third')] } } }
    expect(await ok('/calls/query_stats', stats)).toMatchObject({ count: 1 })
  })

  it('200 in the order of feedback, calls without any last', async () => {
    const { project } = await said()
    const sorted = (path: string, direction: string) =>
      names(project, { sort_by: [{ field: path, direction }] })
    expect(await sorted('feedback.[score].payload.value.of', 'desc')).toEqual(['b', 'a', 'c'])
    expect(await sorted('feedback.[score].payload.value.of', 'asc')).toEqual(['a', 'b', 'c'])
    expect(await sorted('feedback.[wandb.note.1].payload.note', 'desc')).toEqual(['b', 'a', 'c'])
  })

  it.each([
    'feedback.payload.note',
    'feedback.[x].creator',
    'feedback.[x].payload..a',
    'feedback.[].payload',
  ])('403 for %s', async (path) => {
    const body = { project_id: server.newProject(), ...where('$eq', path, 1) }
    expect((await server.post('/calls/stream_query', body)).status).toBe(403)
  })

  it('403 at once for a long path with many brackets and a line break', async () => {
    const body = {
      project_id: server.newProject(),
      ...where('$eq', `feedback.[${'a].'.repeat(300_000)}\n`, 1),
    }
    expect((await server.post('/calls/stream_query', body)).status).toBe(403)
  })

  it('400 for too many columns to expand', async () => {
    const expand_columns = Array.from({ length: 101 }, (_, index) => `inputs.f${index}`)
    const body = { project_id: server.newProject(), expand_columns }
    for (const path of ['/calls/stream_query', '/calls/query_stats'])
      expect((await server.post(path, body)).status).toBe(400)
  })

  it('400 for too many of them, and for an order of sizes', async () => {
    const by = (fields: string[]) => fields.map((path) => ({ field: path, direction: 'asc' }))
    const many = Array.from({ length: 11 }, (_, index) => `feedback.[x].payload.f${index}`)
    for (const fields of [many, ['storage_size_bytes'], ['total_storage_size_bytes']]) {
      const body = { project_id: server.newProject(), sort_by: by(fields) }
      expect((await server.post('/calls/stream_query', body)).status).toBe(400)
    }
  })
})
