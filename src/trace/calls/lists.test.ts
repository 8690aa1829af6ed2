import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { isOutOfMemory, rowsOf } from '../../stores/trace-db/port.ts'
import { documentsOf, useTestServer } from '../../testing.ts'
import { type FoundCall, selectIds, selectPage } from './queries.ts'

const server = useTestServer()

interface Fields {
  [field: string]: unknown
}

/** Writes finished calls. `texts` are the JSON texts of payloads, as a client sends them. */
async function write(project: string, calls: readonly Fields[]): Promise<void> {
  const batch = calls.map((fields) => ({
    id: newId(),
    trace_id: newId(),
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    ...fields,
  }))
  const response = await server.post(`/v2/${project}/calls/complete`, { batch })
  expect(response.status).toBe(200)
}

async function list(project: string, request: Fields = {}): Promise<Fields[]> {
  return documentsOf(await server.post('/calls/stream_query', { project_id: project, ...request }))
}

describe('POST /calls/stream_query, which looks first where its calls should be', () => {
  const HOURS = 400
  let project: string

  beforeAll(async () => {
    project = server.newProject()
    const hour = (number: number): string => new Date(Date.UTC(2026, 0, 1, number)).toISOString()
    // Ids rise with time but for every seventh, which says nothing of when its call was.
    const calls = Array.from({ length: HOURS }, (_, number) => ({
      id: number % 7 === 0 ? crypto.randomUUID() : newId(),
      started_at: hour(number),
      op_name: number % 3 === 0 ? 'third' : 'other',
    }))
    await write(project, calls)
    await server.post('/calls/delete', { project_id: project, call_ids: calls.slice(-5).map(({ id }) => id) })
  })

  it.each([
    ['desc', {}],
    ['asc', {}],
    ['desc', { filter: { op_names: ['third'] } }],
    ['asc', { filter: { op_names: ['third'], trace_roots_only: true } }],
  ] as const)('200 with the same calls %s, for %j', async (direction, request) => {
    const selection = { project_id: project, ...request }
    const found = (limit: number, calls: number | undefined): Promise<FoundCall[]> => {
      const page = { sort_by: [{ field: 'started_at', direction }], limit, offset: 0 }
      const window = calls === undefined ? undefined : { direction, calls }
      return rowsOf(server.stores.traces.query<FoundCall>(selectIds(selection as never, page, window)))
    }
    const whole = (await found(HOURS, undefined)).map(({ id }) => id)
    for (const calls of [1, 10, 100, 300, 10_000]) {
      const inWindow = await found(HOURS, calls)
      expect(inWindow.map(({ id }) => id)).toEqual(whole.slice(0, inWindow.length))
      if (inWindow[0]?.of_all) expect(inWindow).toHaveLength(whole.length)
    }
    expect((await found(HOURS, 10))[0]?.of_all).toBe(0)
    expect((await found(HOURS, 10_000))[0]?.of_all).toBe(1)
  })
})

describe('POST /calls/stream_query for texts in payloads', () => {
  it('200 wherever the text stands, however the client wrote it', async () => {
    const project = server.newProject()
    const asIs = 'needle in hay'
    await write(project, [
      { inputs: { text: asIs } },
      { inputs: { text: `say "${asIs}"` } },
      { inputs: { text: 'NEEDLE IN HAY' } },
      { inputs: { other: asIs } },
      { inputs: { text: 'é' } },
    ])
    // The same text with its letters escaped, which JSON allows everywhere.
    const escaped = asIs.replaceAll('n', '\\u006e')
    const id = newId()
    const body = `{"batch":[{"id":"${id}","trace_id":"${newId()}","op_name":"op","started_at":"2026-01-02T00:00:00Z","ended_at":"2026-01-02T00:00:01Z","attributes":{},"inputs":{"text":"${escaped}"},"output":null,"summary":{}}]}`
    const reply = await server.request(`/v2/${project}/calls/complete`, { method: 'POST', body })
    expect(reply.status).toBe(200)

    const texts = async ($expr: object): Promise<unknown[]> =>
      (await list(project, { query: { $expr } })).map((call) => (call['inputs'] as Fields)['text'])
    const input = { $getField: 'inputs.text' }
    const substr = { $literal: asIs }
    expect(await texts({ $eq: [input, substr] })).toEqual([asIs, asIs])
    expect(await texts({ $in: [input, [substr, { $literal: 'é' }]] })).toEqual([asIs, 'é', asIs])
    expect(await texts({ $contains: { input, substr } })).toEqual([asIs, `say "${asIs}"`, asIs])
    expect(await texts({ $contains: { input, substr, case_insensitive: true } })).toHaveLength(4)
    expect(await texts({ $contains: { input, substr: { $literal: 'É' }, case_insensitive: true } })).toEqual([
      'é',
    ])
  })

  it('200 and a missing leaf is an empty text', async () => {
    const project = server.newProject()
    await write(project, [{ inputs: { a: 'x' } }, { inputs: { a: null } }, { inputs: {} }])
    const empty = { $eq: [{ $getField: 'inputs.a' }, { $literal: '' }] }
    expect(await list(project, { query: { $expr: empty } })).toHaveLength(2)
    expect(await list(project, { query: { $expr: { $not: [empty] } } })).toHaveLength(1)
  })
})

describe('POST /calls/stream_query and what clients wrote', () => {
  it('200 with one line a call, whatever line breaks the payloads came with', async () => {
    const project = server.newProject()
    const call = {
      id: newId(),
      trace_id: newId(),
      op_name: 'op',
      started_at: '2026-01-01T00:00:00Z',
      ended_at: '2026-01-01T00:00:01Z',
      attributes: {},
      inputs: { a: [1, 'two\nlines'] },
      output: { b: 1 },
      summary: {},
    }
    const body = JSON.stringify({ batch: [call] }, null, 2)
    await server.request(`/v2/${project}/calls/complete`, { method: 'POST', body })
    expect(await list(project)).toMatchObject([{ inputs: { a: [1, 'two\nlines'] }, output: { b: 1 } }])
  })

  it('200 with what clients keep under summary.weave, beside what the server derives', async () => {
    const project = server.newProject()
    const weave = { views: { report: 1.5 }, status: 'made up' }
    await write(project, [{ summary: { usage: {}, weave } }, { summary: { weave: 'no object' } }])
    expect((await list(project)).map(({ summary }) => summary)).toEqual([
      { usage: {}, weave: { views: { report: 1.5 }, status: 'success', latency_ms: 1000, trace_name: 'op' } },
      { weave: { status: 'success', latency_ms: 1000, trace_name: 'op' } },
    ])
  })

  it('200 with the dump of a span as an attribute', async () => {
    const project = server.newProject()
    await write(project, [{ attributes: { a: 1 }, otel_dump: { name: 'span' } }])
    expect(await list(project)).toMatchObject([{ attributes: { a: 1, otel_span: { name: 'span' } } }])
  })

  it('403 for a column that is none', async () => {
    const response = await server.post('/calls/stream_query', {
      project_id: server.newProject(),
      columns: ['inputs.a', 'nope'],
    })
    expect(response.status).toBe(403)
  })

  it('200 with calls before 1970, and names of any characters', async () => {
    const project = server.newProject()
    const odd = {
      started_at: '1969-12-31T23:59:59.000001Z',
      display_name: 'ü "q" \\ \n😀',
      exception: '\u0001',
    }
    await write(project, [odd])
    expect(await list(project)).toMatchObject([odd])
  })

  it('200 with payloads of megabytes, in order', async () => {
    const project = server.newProject()
    const texts = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(3_000_000))
    for (const [index, text] of texts.entries())
      await write(project, [{ started_at: `2026-01-0${index + 1}T00:00:00Z`, inputs: { text } }])
    const found = await list(project, { sort_by: [{ field: 'started_at', direction: 'desc' }] })
    expect(found.map(({ inputs }) => (inputs as Fields)['text'] === undefined)).toEqual(
      texts.map(() => false),
    )
    expect(found.map(({ inputs }) => String((inputs as Fields)['text'])[0])).toEqual([
      'e',
      'd',
      'c',
      'b',
      'a',
    ])
  })

  it('200 with a page whose calls are too large for one query', async () => {
    const project = server.newProject()
    const text = 'x'.repeat(20_000_000)
    const hours = ['01', '02', '03', '04', '05', '06']
    for (const hour of hours)
      await write(project, [{ started_at: `2026-01-01T${hour}:00:00Z`, inputs: { text } }])
    const sort_by = [{ field: 'started_at', direction: 'desc' as const }]
    const shown = {
      order: sort_by,
      payloads: ['inputs' as const],
      storageSize: 'without' as const,
      totalStorageSize: 'without' as const,
      usernames: 'without' as const,
    }
    const page = { sort_by, limit: 50, offset: 0 }
    const limits = { window: undefined, bytesMax: 64 * 1024 * 1024 }
    const query = selectPage({ project_id: project }, page, shown, limits)
    const error: unknown = await rowsOf(server.stores.traces.rowBinary(query)).catch((thrown) => thrown)
    expect(isOutOfMemory(error)).toBe(true)

    const found = await list(project, { sort_by, limit: 50 })
    expect(found.map(({ started_at }) => String(started_at).slice(11, 13))).toEqual(hours.toReversed())
  })
})
