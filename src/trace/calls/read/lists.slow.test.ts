import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CallContext } from '../../../http/caller.ts'
import { newId } from '../../../ids.ts'
import { firstOf, isOutOfMemory, rowsOf } from '../../../stores/trace-db/port.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import type { Selection } from '../sql/selection.ts'
import type { List } from './list.ts'
import {
  countWithin,
  selectBoundById,
  selectBoundByStart,
  selectIds,
  selectPage,
  selectsPrefiltered,
} from './queries.ts'
import type { WindowBound } from './scan-windows.ts'
import { createWindowBounds } from './window-bounds.ts'

const server = useTestServer()

/** Writes finished calls. */
async function write(project: string, calls: readonly Fields[]): Promise<void> {
  await writeCalls(server, project, calls.map(finishedCall))
}

/** Writes one finished call from a JSON text. */
async function writeText(project: string, text: string): Promise<void> {
  const body = `{"batch":[${text}]}`
  await replyOf(await server.request(`/v2/${project}/calls/complete`, { method: 'POST', body }))
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
    // Ids rise with time, except every seventh, which is random. A window may end at one of these: at the first or
    // the last call, it would hold the whole list.
    const isRandom = (number: number): boolean => number % 7 === 0 && number > 0 && number < HOURS - 10
    const calls = Array.from({ length: HOURS }, (_, number) => ({
      id: isRandom(number) ? crypto.randomUUID() : newId(),
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
    const { traces } = server.stores
    const selection = { project_id: project, ...request } as Selection
    const found = (bound: WindowBound | undefined): Promise<{ id: string }[]> => {
      const page = { sort_by: [{ field: 'started_at', direction }], limit: HOURS, offset: 0 }
      return rowsOf(
        traces.query<{ id: string }>(
          selectIds(selection, page, { scope: bound ? { bound } : {}, sortBy: 'whole' }),
        ),
      )
    }
    const edgeOf = async (select: typeof selectBoundById, calls: number): Promise<string | undefined> =>
      (await firstOf(traces.query<{ started_at: string }>(select(selection, { direction, calls }))))
        ?.started_at
    const whole = (await found(undefined)).map(({ id }) => id)
    for (const calls of [1, 10, 30]) {
      const edges = {
        adjacent: await edgeOf(selectBoundById, calls),
        scattered: await edgeOf(selectBoundByStart, calls),
      }
      for (const place of ['adjacent', 'scattered'] as const) {
        const inWindow = await found({ direction, edge: edges[place] ?? '', calls: place })
        expect(inWindow.length).toBeLessThan(whole.length)
        expect(inWindow.map(({ id }) => id)).toEqual(whole.slice(0, inWindow.length))
      }
    }
    expect(await edgeOf(selectBoundById, 10_000)).toBeUndefined()
    expect(await edgeOf(selectBoundByStart, 10_000)).toBeUndefined()
  })

  it('ends its window by ids where they rise with time, by start times where they do not', async () => {
    const context = { signal: new AbortController().signal } as CallContext
    const { of: boundOf } = createWindowBounds({ traces: server.stores.traces })
    let latest = ''
    const windowOf = async (idOf: (number: number) => string): Promise<WindowBound | undefined> => {
      latest = server.newProject()
      const starts = Array.from({ length: 200 }, (_, n) => new Date(Date.UTC(2026, 0, 1, n)).toISOString())
      await write(
        latest,
        starts.map((started_at, number) => ({ id: idOf(number), started_at })),
      )
      const list = { selection: { project_id: latest }, context } as List
      return boundOf(list, { direction: 'desc', calls: 80 })
    }
    // The bound is 150 rows from the end.
    const edge = '2026-01-03T01:00:00.000000Z'
    expect(await windowOf(() => newId())).toEqual({ direction: 'desc', edge, calls: 'adjacent' })
    const spanId = (number: number): string =>
      createHash('sha256').update(`${number}`).digest('hex').slice(16, 32)
    expect(await windowOf(spanId)).toEqual({ direction: 'desc', edge, calls: 'scattered' })
    const bound: WindowBound = { direction: 'desc', edge, calls: 'scattered' }
    const counted = (limit: number): Promise<unknown> =>
      firstOf(server.stores.traces.query(countWithin({ project_id: latest }, bound, limit)))
    expect(await counted(1000)).toEqual({ count: 151 })
    expect(await counted(10)).toEqual({ count: 10 })
  })
})

describe('POST /calls/stream_query for texts in payloads', () => {
  it('200 for a text at any place, in any escaping of the client', async () => {
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
    const call = finishedCall({ started_at: '2026-01-02T00:00:00Z', ended_at: '2026-01-02T00:00:01Z' })
    await writeText(project, JSON.stringify(call).replace('"inputs":{}', `"inputs":{"text":"${escaped}"}`))

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

describe("POST /calls/stream_query and the clients' text", () => {
  it('200 with one line a call, with any line breaks in payloads', async () => {
    const project = server.newProject()
    const call = finishedCall({ inputs: { a: [1, 'two\nlines'] }, output: { b: 1 } })
    await writeText(project, JSON.stringify(call, null, 2))
    expect(await list(project)).toMatchObject([{ inputs: { a: [1, 'two\nlines'] }, output: { b: 1 } }])
  })

  it('200 with members that clients keep under summary.weave, beside those that the server derives', async () => {
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

  it('403 for an invalid column', async () => {
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
    const limits = { scope: {}, bytesMax: 64 * 1024 * 1024 }
    const query = selectPage({ project_id: project }, page, shown, limits)
    const error: unknown = await rowsOf(server.stores.traces.rowBinary(query)).catch((thrown) => thrown)
    expect(isOutOfMemory(error)).toBe(true)

    const found = await list(project, { sort_by, limit: 50 })
    expect(found.map(({ started_at }) => String(started_at).slice(11, 13))).toEqual(hours.toReversed())
  })

  it('200 with summaries of spaces only', async () => {
    const project = server.newProject()
    const text = JSON.stringify(finishedCall())
    await writeText(project, text.replace('"summary":{}', `"summary":{${' '.repeat(300)}}`))
    expect(await list(project)).toMatchObject([{ summary: { weave: { status: 'success' } } }])
    expect(await list(project, { include_feedback: true })).toHaveLength(1)
  })

  it('200 with the same name of an op shown and searched, in a project of any name', async () => {
    const project = `me-${newId()}/op`
    await write(project, [{ op_name: `weave:///${project}/op/predict:abc` }])
    const $eq = [{ $getField: 'summary.weave.trace_name' }, { $literal: 'predict' }]
    expect(await list(project, { query: { $expr: { $eq } } })).toMatchObject([
      { summary: { weave: { trace_name: 'predict' } } },
    ])
  })

  it('200 and an empty text in a filter matches no call', async () => {
    const project = server.newProject()
    await write(project, [{}])
    for (const name of ['parent_ids', 'wb_run_ids', 'turn_ids', 'thread_ids'])
      expect(await list(project, { filter: { [name]: [''] } })).toEqual([])
  })

  it('422 for times that cannot be kept', async () => {
    const project = server.newProject()
    for (const year of ['1800', '2500']) {
      const start = finishedCall({ project_id: project, started_at: `${year}-01-01T00:00:00Z` })
      const response = await server.post('/call/start', { start })
      expect(response.status).toBe(422)
    }
  })
})

describe('POST /calls/query_stats for queries of many parts', () => {
  const count = async (query: object): Promise<number> => {
    const response = await server.post('/calls/query_stats', {
      project_id: server.newProject(),
      query: { $expr: query },
    })
    return response.status
  }
  const field = { $getField: 'inputs.a' }
  const each = (length: number, one: (index: number) => object): object[] =>
    Array.from({ length }, (_, index) => one(index))

  it('200 for hundreds of conditions, and for many thousand values of one', async () => {
    const searched = (index: number) => ({ $contains: { input: field, substr: { $literal: `x${index}` } } })
    expect(await count({ $or: each(240, searched) })).toBe(200)
    expect(await count({ $or: each(240, (index) => ({ $eq: [field, { $literal: `x${index}` }] })) })).toBe(
      200,
    )
    expect(await count({ $in: [field, each(10_000, (index) => ({ $literal: index }))] })).toBe(200)
    expect(await count({ $in: [field, each(10_000, (index) => ({ $literal: `x${index}` }))] })).toBe(200)
    const times = each(10_000, (index) => ({ $literal: 1_767_225_600_000 + index }))
    expect(await count({ $in: [field, times] })).toBe(200)
    expect(await count({ $in: [field, each(50_001, (index) => ({ $literal: index }))] })).not.toBe(503)
  })

  it('200 for conversions of conversions, and for a list of no values', async () => {
    const converted = (levels: number): object =>
      levels === 0 ? field : { $convert: { input: converted(levels - 1), to: 'bool' } }
    expect(await count({ $eq: [converted(40), { $literal: 1 }] })).toBe(200)
    expect(await count({ $in: [field, []] })).toBe(200)
    expect(await count({ $in: [{ $getField: 'started_at' }, []] })).toBe(200)
  })

  it('400 and 422 for too many conditions, without delay, however long they are', async () => {
    const searched = (index: number) => ({ $contains: { input: field, substr: { $literal: `x${index}` } } })
    expect(await count({ $and: each(1990, searched) })).toBe(400)
    const deep = { $getField: `inputs.${Array.from({ length: 31 }, (_, index) => index).join('.')}` }
    expect(await count({ $and: each(240, (index) => ({ $eq: [deep, { $literal: `x${index}` }] })) })).toBe(
      400,
    )
    expect(await count({ $in: [field, each(60_000, (index) => ({ $literal: `x${index}` }))] })).toBe(400)
    const anyOf = (conditions: number) =>
      count({ $or: each(conditions, (index) => ({ $eq: [field, { $literal: `x${index}` }] })) })
    expect(await anyOf(1_500)).toBe(400)
    expect(await anyOf(50_000)).toBe(422)
    expect(
      await count({ $in: [field, each(50_000, (index) => ({ $literal: index % 2 ? index : 'x' }))] }),
    ).toBe(400)
  })

  it('finds calls by a list of values of more than a megabyte', async () => {
    const project = server.newProject()
    await write(project, [{ inputs: { a: 'x77' } }, { inputs: { a: 'x78' } }])
    const literals = each(40_000, (index) => ({
      $literal: index === 39_999 ? 'x77' : `${'y'.repeat(40)}${index}`,
    }))
    const response = await server.post('/calls/query_stats', {
      project_id: project,
      query: { $expr: { $in: [field, literals] } },
    })
    expect(await response.json()).toMatchObject({ count: 1 })
  })

  it('422 for too many fields to sort by', async () => {
    const sort_by = each(100, (index) => ({ field: `inputs.a${index}`, direction: 'asc' }))
    const response = await server.post('/calls/stream_query', { project_id: server.newProject(), sort_by })
    expect(response.status).toBe(422)
  })
})

describe('the ids of traces', () => {
  /** What EXPLAIN says of the search for the calls of a trace. */
  async function explained(project_id: string, trace: string): Promise<string> {
    const selection = { project_id, filter: { trace_ids: [trace] } }
    const [query] = selectsPrefiltered(selection, { limit: 201, usesWordIndex: false })
    const sql = `EXPLAIN indexes = 1 ${query?.sql}`
    const lines = server.stores.traces.query<{ explain: string }>({ sql, params: query?.params ?? {} })
    return (await rowsOf(lines)).map(({ explain }) => explain.trim()).join('\n')
  }

  it('exclude granules by the least and the greatest, once parts are merged', async () => {
    const project = server.newProject()
    await write(project, [{ trace_id: newId() }])
    await write(project, [{ trace_id: newId() }])
    await server.stores.traces.command({ sql: 'OPTIMIZE TABLE calls FINAL', params: {} })
    expect(await explained(project, newId())).toMatch(/Name: by_trace\n(.+\n){2}Parts: 0\//)
  })
})
