import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'
import type { CallFieldsRes } from './wire.ts'

const server = useTestServer()

async function fields(project_id: string, request: Fields = {}): Promise<CallFieldsRes> {
  return replyOf<CallFieldsRes>(await server.post('/calls/fields', { project_id, ...request }))
}

const pathsOf = ({ fields: found }: CallFieldsRes) => found.map(({ path }) => path).sort()

const fieldAt = ({ fields: found }: CallFieldsRes, path: string) => found.find((field) => field.path === path)

async function projectWith(...calls: Fields[]): Promise<string> {
  const project = server.newProject()
  await writeCalls(server, project, calls.map(finishedCall))
  return project
}

describe('POST /calls/fields', () => {
  it('200 with counts, types, an example and frequent values of each path', async () => {
    const project = await projectWith(
      { inputs: { customer: { country: 'gr', id: 1 }, tags: ['a'] }, output: 0.5 },
      { inputs: { customer: { country: 'gr', id: 2.5 }, tags: [] }, output: true },
      { inputs: { customer: { country: 'de', id: null }, meta: {} }, output: 'done' },
    )
    const reply = await fields(project)
    expect(reply).toMatchObject({ sampled_calls: 3, total_calls: 3, is_sample: false, has_more: false })
    expect(fieldAt(reply, 'inputs.customer.country')).toEqual({
      path: 'inputs.customer.country',
      count: 3,
      types: ['string'],
      example: expect.stringMatching(/^(gr|de)$/),
      values: [
        { value: 'gr', count: 2 },
        { value: 'de', count: 1 },
      ],
    })
    expect(fieldAt(reply, 'inputs.customer.id')).toMatchObject({ count: 2, types: ['number'] })
    expect(fieldAt(reply, 'inputs.tags')).toMatchObject({ count: 2, types: ['list'], values: [] })
    expect(fieldAt(reply, 'inputs.meta')).toMatchObject({ count: 1, types: ['object'], example: '{}' })
    expect(fieldAt(reply, 'output')).toMatchObject({ count: 3, types: ['boolean', 'number', 'string'] })
    const outputs = fieldAt(reply, 'output')?.values.map(({ value }) => value)
    expect(new Set(outputs)).toEqual(new Set([0.5, true, 'done']))
  })

  it('200 with the built-in fields of calls', async () => {
    const project = await projectWith(
      { op_name: `weave:///a/b/op/answer:${'x'.repeat(20)}`, thread_id: 't1' },
      {
        op_name: 'plain',
        exception: 'Error: no',
        summary: { weave: { mine: 1 }, usage: { m: { requests: 1 } } },
      },
    )
    const reply = await fields(project)
    const valuesAt = (path: string) =>
      fieldAt(reply, path)
        ?.values.map(({ value }) => value)
        .sort()
    expect(valuesAt('summary.weave.status')).toEqual(['error', 'success'])
    expect(valuesAt('summary.weave.trace_name')).toEqual(['answer', 'plain'])
    expect(valuesAt('thread_id')).toEqual(['t1'])
    expect(valuesAt('exception')).toEqual(['Error: no'])
    expect(pathsOf(reply)).toContain('summary.usage.m.requests')
    expect(pathsOf(reply)).not.toContain('summary.weave.mine')
    expect(fieldAt(reply, 'display_name')).toBeUndefined()
  })

  it('200 with paths that queries understand, whatever characters keys have', async () => {
    const inputs = { 'a.b': { 'c.': 1 }, '': 2, e: { '': 3 }, 'with space': 4, "quote'": 5, é: 6 }
    const project = await projectWith({ inputs }, {})
    const found = pathsOf(await fields(project, { prefix: 'inputs.' }))
    expect(found).toEqual(['inputs.a\\.b.c\\.', "inputs.quote'", 'inputs.with space', 'inputs.é'])
    for (const path of found) {
      const query = { $expr: { $not: [{ $eq: [{ $getField: path }, { $literal: null }] }] } }
      const reply = await server.post('/calls/query_stats', { project_id: project, query })
      expect([path, await replyOf(reply)]).toMatchObject([path, { count: 1 }])
    }
  })

  it('200 with deeply nested fields as objects, and without long values', async () => {
    const inputs = {
      a: { b: { c: { d: { e: { f: { g: 1 } } } } } },
      text: 'é'.repeat(5000),
      prose: 'x'.repeat(127),
    }
    const reply = await fields(await projectWith({ inputs }), { prefix: 'inputs' })
    expect(fieldAt(reply, 'inputs.a.b.c.d.e.f')).toMatchObject({ types: ['object'], example: '{"g":1}' })
    expect(fieldAt(reply, 'inputs.text')).toMatchObject({ values: [], example: `${'é'.repeat(120)}…` })
    expect(fieldAt(reply, 'inputs.prose')?.values).toEqual([{ value: 'x'.repeat(127), count: 1 }])
  })

  it('200 with numbers as they are written, where JavaScript would round them', async () => {
    const project = server.newProject()
    const call = JSON.stringify({ batch: [finishedCall({ inputs: { n: 'N' } })] })
    await replyOf(
      await server.request(`/v2/${project}/calls/complete`, {
        method: 'POST',
        body: call.replace('"N"', '1234567890123456789'),
      }),
    )
    const reply = await fields(project)
    expect(fieldAt(reply, 'inputs.n')?.values).toEqual([{ value: '1234567890123456789', count: 1 }])
  })

  it('200 for calls that a filter and a query select, below a prefix, within limits', async () => {
    const project = await projectWith(
      { op_name: 'one', inputs: { a: 1, b: 1 }, output: { c: 1 } },
      { op_name: 'two', inputs: { a: 2 }, output: { d: 1 } },
    )
    const inPayloads = { prefix: 'output' }
    expect(pathsOf(await fields(project, inPayloads))).toEqual(['output.c', 'output.d'])
    const one = await fields(project, { ...inPayloads, filter: { op_names: ['one'] } })
    expect([pathsOf(one), one.total_calls]).toEqual([['output.c'], 1])
    const query = { $expr: { $eq: [{ $getField: 'inputs.a' }, { $literal: '2' }] } }
    expect(pathsOf(await fields(project, { ...inPayloads, query }))).toEqual(['output.d'])
    const judged = {
      $expr: { $not: [{ $eq: [{ $getField: 'feedback.[*].payload.x' }, { $literal: '1' }] }] },
    }
    expect(pathsOf(await fields(project, { ...inPayloads, query: judged }))).toEqual(['output.c', 'output.d'])
    const first = await fields(project, { prefix: 'inputs', limit: 1, values: 1 })
    expect(first).toMatchObject({ has_more: true, fields: [{ path: 'inputs.a', count: 2 }] })
    expect(first.fields[0]?.values).toHaveLength(1)
    expect((await fields(project, { values: 0 })).fields.flatMap(({ values }) => values)).toEqual([])
    expect(pathsOf(await fields(project, { prefix: 'nothing' }))).toEqual([])
    expect(await fields(server.newProject())).toMatchObject({ fields: [], total_calls: 0, is_sample: false })
  })

  it('200 without deleted calls', async () => {
    const project = await projectWith({ inputs: { kept: 1 } })
    const gone = finishedCall({ inputs: { gone: 1 } })
    await writeCalls(server, project, [gone])
    await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [gone.id] }))
    expect(pathsOf(await fields(project, { prefix: 'inputs' }))).toEqual(['inputs.kept'])
  })

  it('200 with fields that only a few old calls of an op have, beside more calls of another op than are read', async () => {
    const project = server.newProject()
    const old = Array.from({ length: 120 }, () =>
      finishedCall({ op_name: 'support', inputs: { customer: { country: 'gr' } } }),
    )
    await writeCalls(server, project, old)
    const rows = Array.from({ length: 21_000 }, (_, at) => ({
      ...finishedCall(),
      project_id: project,
      id: newId(),
      has_start: 1,
      op_name: 'evaluate',
      attributes: '{}',
      inputs: JSON.stringify({ at }),
      output: 'null',
      summary: '{}',
    }))
    await server.stores.traces.insert('calls', rows)
    const reply = await fields(project)
    expect(reply).toMatchObject({ sampled_calls: 20_100, total_calls: 21_120, is_sample: true })
    expect(fieldAt(reply, 'inputs.customer.country')).toMatchObject({
      count: 100,
      values: [{ value: 'gr', count: 100 }],
    })
    const one = await fields(project, { prefix: 'inputs' })
    expect(one).toMatchObject({ sampled_calls: 21_120, is_sample: false })
    expect(fieldAt(one, 'inputs.at')).toMatchObject({ count: 21_000 })
  })

  it.each([
    { limit: 0 },
    { limit: 2001 },
    { values: 101 },
    { prefix: 1 },
    { query: { $expr: { $near: [] } } },
  ])('422 for %j', async (wrong) => {
    const response = await server.post('/calls/fields', { project_id: server.newProject(), ...wrong })
    expect(response.status).toBe(422)
  })

  it('403 for a query of a field that does not exist', async () => {
    const query = { $expr: { $eq: [{ $getField: 'nothing' }, { $literal: 1 }] } }
    const response = await server.post('/calls/fields', { project_id: server.newProject(), query })
    expect(response.status).toBe(403)
  })
})
