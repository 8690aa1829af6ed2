import { describe, expect, it } from 'vitest'
import { type Fields, useTestServer } from '../../testing.ts'
import { nowIso } from '../../time.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'
import { defaultPrices } from './default-prices.ts'
import { type Price, priceAt } from './prices.ts'

const server = useTestServer()

const PRICE = { prompt_token_cost: 1e-6, completion_token_cost: 2e-6 }

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const equals = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })

async function create(project_id: string, costs: Fields): Promise<string[]> {
  const response = await server.post('/cost/create', { project_id, costs })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const { ids } = JSON.parse(text) as { ids: [string, string][] }
  expect(ids.map(([, llmId]) => llmId)).toEqual(Object.keys(costs))
  return ids.map(([id]) => id)
}

async function query(project_id: string, fields: Fields = {}): Promise<Fields[]> {
  const response = await server.post('/cost/query', { project_id, ...fields })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { results: Fields[] }).results
}

describe('POST /cost/create', () => {
  it('200 with an id for each model; the defaults are USD, from now on, and the default provider', async () => {
    const project = server.newProject()
    const before = Date.parse(nowIso())
    const [id] = await create(project, { m: { ...PRICE, provider_id: null, effective_date: null } })
    const [cost] = await query(project)
    expect(cost).toEqual({
      ...PRICE,
      id,
      llm_id: 'm',
      provider_id: 'default',
      effective_date: expect.any(String),
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
    })
    expect(Date.parse(String(cost?.['effective_date']))).toBeGreaterThanOrEqual(before)
  })

  it('422 for too many prices, and none is kept', async () => {
    const project = server.newProject()
    const costs = Object.fromEntries(Array.from({ length: 10_001 }, (_, model) => [`m${model}`, PRICE]))
    expect((await server.post('/cost/create', { project_id: project, costs })).status).toBe(422)
    expect(await query(project)).toEqual([])
  })

  it('200 and every given field is kept', async () => {
    const project = server.newProject()
    const said = {
      ...PRICE,
      cache_read_input_token_cost: 1e-7,
      cache_creation_input_token_cost: 1.25e-6,
      prompt_token_cost_unit: 'EUR',
      completion_token_cost_unit: 'EUR',
      provider_id: 'me',
    }
    await create(project, { m: { ...said, effective_date: '2026-11-21T09:11:17.415041+02:00', unknown: 1 } })
    const [cost] = await query(project)
    expect(cost).toMatchObject({ ...said, effective_date: '2026-11-21T07:11:17.415041Z' })
  })

  it('400 for an invalid project, 422 for an invalid date or price', async () => {
    const project_id = server.newProject()
    const statusOf = async (body: Fields) => (await server.post('/cost/create', body)).status
    expect(await statusOf({ project_id, costs: { m: { ...PRICE, effective_date: 'soon' } } })).toBe(422)
    expect(await statusOf({ project_id: 'p', costs: { m: PRICE } })).toBe(400)
    expect(await statusOf({ project_id, costs: { m: { prompt_token_cost: 1 } } })).toBe(422)
    expect(await statusOf({ project_id, costs: { m: { ...PRICE, prompt_token_cost: 'cheap' } } })).toBe(422)
    expect(await query(project_id)).toEqual([])
  })
})

describe('POST /cost/query', () => {
  async function seeded(): Promise<string> {
    const project = server.newProject()
    await create(project, { a: PRICE, b: { ...PRICE, prompt_token_cost: 5e-6 }, c: PRICE })
    return project
  }

  it('200 for the query of the Python client, which compares two literals, and never beyond the project', async () => {
    const [project, other] = [await seeded(), await seeded()]
    const always = { $eq: [literal('1'), literal('1')] }
    const models = { $in: [field('llm_id'), [literal('a'), literal('c')]] }
    const found = await query(project, { query: { $expr: { $and: [always, models] } } })
    expect(found.map((cost) => cost['llm_id'])).toEqual(['a', 'c'])
    expect(await query(project, { query: { $expr: always } })).toHaveLength(3)
    expect(await query(project, { query: { $expr: equals('pricing_level_id', other) } })).toEqual([])
    const never = { $eq: [literal(1), literal(2)] }
    expect(await query(project, { query: { $expr: never } })).toEqual([])
  })

  it('200 with the requested fields, order and page', async () => {
    const project = await seeded()
    const sort_by = [{ field: 'prompt_token_cost', direction: 'desc' }]
    const [first, second] = await query(project, { fields: ['llm_id'], sort_by })
    expect([first?.['llm_id'], second?.['llm_id']]).toEqual(['b', 'a'])
    expect(first).toMatchObject({ id: null, prompt_token_cost: null, effective_date: null })
    expect(await query(project, { limit: 1, offset: 1 })).toMatchObject([{ llm_id: 'b' }])
    expect(await query(project, { limit: 0 })).toEqual([])
    const dear = { $expr: { $gt: [field('prompt_token_cost'), literal(2e-6)] } }
    expect(await query(project, { query: dear })).toMatchObject([{ llm_id: 'b' }])
    const future = { $expr: { $gt: [field('effective_date'), literal('2200-01-01')] } }
    expect(await query(project, { query: future })).toEqual([])
  })

  it('200 without default prices', async () => {
    expect(await query(server.newProject())).toEqual([])
  })

  it.each([
    [{ fields: ['nope'] }],
    [{ fields: ['created_by; DROP TABLE costs'] }],
    [{ sort_by: [{ field: 'constructor', direction: 'asc' }] }],
    [{ query: { $expr: equals('nope', 1) } }],
    [{ limit: -1 }],
    [{ offset: -1 }],
  ])('400 for %j', async (fields) => {
    const response = await server.post('/cost/query', { project_id: server.newProject(), ...fields })
    expect(response.status).toBe(400)
  })
})

it('POST /cost/query is 422 for too many fields, or fields to sort by', async () => {
  const project_id = server.newProject()
  const sort_by = Array.from({ length: 33 }, () => ({ field: 'id', direction: 'asc' }))
  for (const fields of [{ sort_by }, { fields: Array.from({ length: 1001 }, () => 'id') }])
    expect((await server.post('/cost/query', { project_id, ...fields })).status).toBe(422)
})

describe('POST /cost/purge', () => {
  it('200 and only the named costs of this project are deleted, each time it is sent', async () => {
    const [project, other] = [server.newProject(), server.newProject()]
    const ids = await create(project, { a: PRICE, b: PRICE, c: PRICE, d: PRICE, e: PRICE })
    const kept = await create(other, { a: PRICE })
    const named = [
      equals('id', ids[0]),
      { $in: [field('id'), [literal(ids[1]), literal(kept[0])]] },
      { $or: [equals('id', ids[2]), equals('id', ids[3])] },
      equals('id', ids[0]),
    ]
    for (const $expr of named) {
      const response = await server.post('/cost/purge', { project_id: project, query: { $expr } })
      expect(await response.json()).toEqual({})
    }
    expect((await query(project)).map((cost) => cost['id'])).toEqual([ids[4]])
    expect(await query(other)).toHaveLength(1)
  })

  it.each([
    equals('llm_id', 'a'),
    { $eq: [literal('1'), literal('1')] },
    { $in: [field('id'), []] },
    { $in: [field('llm_id'), [literal('a')]] },
    { $or: [equals('id', 'a'), equals('llm_id', 'a')] },
    { $and: [equals('id', 'a')] },
    { $not: [equals('id', 'a')] },
  ])('400 for %j', async ($expr) => {
    const project = server.newProject()
    await create(project, { a: PRICE })
    const response = await server.post('/cost/purge', { project_id: project, query: { $expr } })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      reason: 'Can only purge costs by specifying one or more cost ids',
    })
    expect(await query(project)).toHaveLength(1)
  })
})

describe('POST /cost/purge of many costs', () => {
  const purge = (project_id: string, ids: readonly (string | undefined)[]) =>
    server.post('/cost/purge', { project_id, query: { $expr: { $in: [field('id'), ids.map(literal)] } } })
  const others = (count: number, length = 36) =>
    Array.from({ length: count }, (_, index) => String(index).padStart(length, '0'))

  it('200 for more ids than one change has', async () => {
    const project = server.newProject()
    const [first, second, kept] = await create(project, { a: PRICE, b: PRICE, c: PRICE })
    expect((await purge(project, [first, ...others(20_000), second])).status).toBe(200)
    expect((await query(project)).map((cost) => cost['id'])).toEqual([kept])
  })

  it.each([
    [400, others(50_001)],
    [413, others(100, 50_000)],
  ])('%i for too many ids, or too long ones', async (status, ids) => {
    expect((await purge(server.newProject(), ids)).status).toBe(status)
  })
})

describe('POST /calls/stream_query with include_costs', () => {
  const AT = '2026-06-01T00:00:00.000000Z'
  const counted = { prompt_tokens: 1000, completion_tokens: 100, requests: 1, total_tokens: 1100 }

  async function costsOf(
    project_id: string,
    usage: unknown,
    fields: Fields = {},
  ): Promise<Fields | undefined> {
    const start = { project_id, op_name: 'op', started_at: AT, attributes: {}, inputs: {} }
    const started = await server.post('/call/start', { start })
    const { id } = (await started.json()) as { id: string }
    const end = { project_id, id, ended_at: AT, summary: { usage } }
    expect((await server.post('/call/end', { end })).status).toBe(200)
    const filter = { call_ids: [id] }
    const response = await server.post('/calls/stream_query', {
      project_id,
      filter,
      include_costs: true,
      ...fields,
    })
    const call = (await response.json()) as { summary: { weave: { costs?: Fields } } }
    return call.summary.weave.costs
  }

  it('200 with the cost of each model, at its default price', async () => {
    const usage = { 'gpt-4o-mini': { ...counted, cache_read_input_tokens: 200 }, nobody: counted }
    const costs = await costsOf(server.newProject(), usage, { columns: ['id'] })
    expect(costs).toEqual({
      'gpt-4o-mini': {
        ...counted,
        cache_read_input_tokens: 200,
        cache_creation_input_tokens: 0,
        prompt_tokens_total_cost: 800 * 1.5e-7,
        completion_tokens_total_cost: 100 * 6e-7,
        cache_read_input_tokens_total_cost: 200 * 7.5e-8,
        cache_creation_input_tokens_total_cost: 0,
        prompt_token_cost: 1.5e-7,
        completion_token_cost: 6e-7,
        cache_read_input_token_cost: 7.5e-8,
        cache_creation_input_token_cost: 0,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'USD',
        provider_id: 'openai',
        pricing_level: 'default',
        pricing_level_id: 'default',
        effective_date: expect.any(String),
        created_at: expect.any(String),
        created_by: 'default',
      },
    })
  })

  it('200 with the price of the project that was in effect, for either way to name tokens', async () => {
    const project = server.newProject()
    await create(project, { 'gpt-4o-mini': { ...PRICE, effective_date: '2026-05-01', provider_id: 'me' } })
    await create(project, { 'gpt-4o-mini': { ...PRICE, effective_date: '2026-07-01', prompt_token_cost: 9 } })
    const usage = { input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 2000 }
    expect(await costsOf(project, { 'gpt-4o-mini': usage })).toMatchObject({
      'gpt-4o-mini': {
        prompt_tokens: 1000,
        completion_tokens: 100,
        prompt_tokens_total_cost: 0,
        completion_tokens_total_cost: 100 * PRICE.completion_token_cost,
        provider_id: 'me',
        pricing_level: 'project',
        pricing_level_id: project,
        effective_date: '2026-05-01T00:00:00.000000Z',
      },
    })
  })

  it('200 with the costs of the first thousand models of a call', async () => {
    const project = server.newProject()
    await create(project, { m0: PRICE, m999: PRICE, m1000: PRICE })
    const models = Array.from({ length: 20_000 }, (_, index) => [`m${index}`, { prompt_tokens: 1 }])
    await writeCalls(server, project, [finishedCall({ summary: { usage: Object.fromEntries(models) } })])
    const reply = await server.post('/calls/stream_query', { project_id: project, include_costs: true })
    const { summary } = (await reply.json()) as { summary: { weave: { costs: Fields } } }
    expect(Object.keys(summary.weave.costs)).toEqual(['m0', 'm999'])
  })

  it('200 for models of names that are together longer than the values of a query', async () => {
    const project = server.newProject()
    const nameOf = (index: number) => `${index}${'\u0001'.repeat(45_000)}`
    await create(project, { [nameOf(0)]: PRICE, [nameOf(19)]: PRICE })
    const callFrom = (first: number) => {
      const models = Array.from({ length: 10 }, (_, index) => [nameOf(first + index), { prompt_tokens: 1 }])
      return finishedCall({ summary: { usage: Object.fromEntries(models) } })
    }
    await writeCalls(server, project, [callFrom(0), callFrom(10)])
    const reply = await server.post('/calls/stats', {
      project_id: project,
      start: '2026-01-01T00:00:00Z',
      end: '2026-01-01T01:00:00Z',
      granularity: 3600,
      usage_metrics: [{ metric: 'total_cost' }],
    })
    const { usage_buckets } = (await reply.json()) as { usage_buckets: Fields[] }
    const priced = usage_buckets.filter((bucket) => bucket['sum_total_cost'] !== 0)
    expect(usage_buckets).toHaveLength(20)
    expect(priced.map(({ model }) => model)).toEqual([nameOf(0), nameOf(19)].toSorted())
  })

  it('200 without costs where no model has a price or no tokens were counted', async () => {
    const project = server.newProject()
    for (const usage of [undefined, null, {}, [], 'x', { nobody: counted }]) {
      expect(await costsOf(project, usage)).toBeUndefined()
    }
    expect(await costsOf(project, { 'gpt-4o-mini': counted }, { include_costs: false })).toBeUndefined()
    const odd = { 'gpt-4o-mini': { prompt_tokens: 'many', completion_tokens: null } }
    expect(await costsOf(project, odd)).toMatchObject({ 'gpt-4o-mini': { prompt_tokens_total_cost: 0 } })
  })
})

describe('the price that counts', () => {
  const [known] = defaultPrices('gpt-4o-mini')
  const price = (level: Price['pricing_level'], day: string, prompt_token_cost: number): Price => {
    if (known === undefined) throw new Error('gpt-4o-mini has a default price')
    return { ...known, pricing_level: level, effective_date: `${day}T00:00:00.000000Z`, prompt_token_cost }
  }

  it('is one in effect before a future one, the project’s before the default, the latest of those', () => {
    const prices = [
      price('default', '2026-03-01', 1),
      price('project', '2026-01-01', 2),
      price('project', '2026-02-01', 3),
      price('project', '2026-12-01', 4),
    ]
    const at = (day: string) => priceAt(prices, `${day}T12:00:00.000000Z`)?.prompt_token_cost
    expect(at('2026-04-01')).toBe(3)
    expect(at('2026-01-15')).toBe(2)
    expect(at('2026-12-01')).toBe(4)
    expect(at('2025-01-01')).toBe(4)
    expect(priceAt(prices.slice(0, 1), '2020-01-01T00:00:00.000000Z')?.prompt_token_cost).toBe(1)
    expect(priceAt([...prices].reverse(), '2026-04-01T00:00:00.000000Z')?.prompt_token_cost).toBe(3)
    expect(priceAt([], '2026-04-01T00:00:00.000000Z')).toBeUndefined()
  })

  it('is known by default for a model under exactly its name', () => {
    expect(known).toMatchObject({
      provider_id: 'openai',
      pricing_level: 'default',
      prompt_token_cost: 1.5e-7,
      completion_token_cost: 6e-7,
      cache_read_input_token_cost: 7.5e-8,
      cache_creation_input_token_cost: 0,
    })
    expect(defaultPrices('openai/gpt-4o-mini')).toMatchObject([{ prompt_token_cost: 1.5e-7 }])
    for (const name of ['gpt-4o-min', 'GPT-4o-mini', 'constructor', ''])
      expect(defaultPrices(name)).toEqual([])
  })
})
