import { describe, expect, it } from 'vitest'
import { type Fields, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

type Bucket = Record<string, number | string | null>

function call(startedAt: string, latencyMs: number | undefined, fields: Fields = {}): Fields {
  const started_at = new Date(`2026-01-01T${startedAt}Z`)
  return finishedCall({
    started_at: started_at.toISOString(),
    ended_at: new Date(started_at.getTime() + (latencyMs ?? 0)).toISOString(),
    ...fields,
  })
}

const write = (project: string, ...calls: Fields[]) => writeCalls(server, project, calls)

interface Stats {
  start: string
  end: string
  granularity: number
  timezone: string
  usage_buckets: Bucket[]
  call_buckets: Bucket[]
}

const RANGE = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T03:00:00Z', granularity: 3600 }

async function stats(project_id: string, fields: Fields): Promise<Stats> {
  const response = await server.post('/calls/stats', { project_id, ...RANGE, ...fields })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Stats
}

const at = (clock: string) => `2026-01-01T${clock}.000000Z`

describe('POST /calls/stats', () => {
  it('200 with calls in every bucket of the range, zero or null where there were none', async () => {
    const project = server.newProject()
    await write(
      project,
      call('00:00:00', 100),
      call('00:59:59.999', 300, { exception: 'boom' }),
      call('02:00:00', 1000),
      call('03:00:00', 5000),
    )
    const started = { ...call('00:10:00', undefined), project_id: project }
    await server.post('/call/start', { start: started })
    const call_metrics = [
      { metric: 'latency_ms', aggregations: ['avg', 'min', 'max', 'count'], percentiles: [50, 99.5] },
      { metric: 'call_count' },
      { metric: 'error_count', aggregations: ['sum', 'count_true', 'count_false'] },
    ]
    const reply = await stats(project, { call_metrics })
    const { start, end } = reply
    expect({ ...reply, start, end }).toMatchObject({
      start: at('00:00:00'),
      end: at('03:00:00'),
      granularity: 3600,
      timezone: 'UTC',
      usage_buckets: [],
    })
    const empty = {
      avg_latency_ms: 0,
      min_latency_ms: null,
      max_latency_ms: null,
      count_latency_ms: 0,
      p50_latency_ms: null,
      'p99.5_latency_ms': null,
      sum_call_count: 0,
      sum_error_count: 0,
      count_true_error_count: 0,
      count_false_error_count: 0,
      count: 0,
    }
    const one = { avg_latency_ms: 1000, min_latency_ms: 1000, max_latency_ms: 1000, p50_latency_ms: 1000 }
    expect(reply.call_buckets).toEqual([
      {
        timestamp: at('00:00:00'),
        avg_latency_ms: 200,
        min_latency_ms: 100,
        max_latency_ms: 300,
        count_latency_ms: 2,
        p50_latency_ms: 200,
        'p99.5_latency_ms': expect.closeTo(299, 6),
        sum_call_count: 3,
        sum_error_count: 1,
        count_true_error_count: 1,
        count_false_error_count: 2,
        count: 3,
      },
      { timestamp: at('01:00:00'), ...empty },
      {
        timestamp: at('02:00:00'),
        ...empty,
        ...one,
        count_latency_ms: 1,
        'p99.5_latency_ms': 1000,
        sum_call_count: 1,
        count_false_error_count: 1,
        count: 1,
      },
    ])
  })

  it('200 with the tokens of each model in every bucket, under either of their names; a missing total is the sum', async () => {
    const project = server.newProject()
    const b = { input_tokens: 5, total_tokens: 'many', cache_read_input_tokens: 2 }
    await write(
      project,
      call('00:00:00', 1, {
        summary: { usage: { a: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }, b } },
      }),
      call('00:30:00', 1, { summary: { usage: { a: { prompt_tokens: 3, output_tokens: 4 } } } }),
      call('02:30:00', 1, { summary: { usage: { a: { prompt_tokens: 7 } } } }),
      call('02:30:00', 1, { summary: { usage: 'none' } }),
    )
    const usage_metrics = [
      { metric: 'input_tokens', aggregations: ['sum', 'max'], percentiles: [50] },
      { metric: 'output_tokens' },
      { metric: 'total_tokens', aggregations: [] },
      { metric: 'cache_read_input_tokens' },
    ]
    const { usage_buckets } = await stats(project, { usage_metrics })
    const rows = usage_buckets.map((bucket) => [
      String(bucket['timestamp']).slice(11, 13),
      bucket['model'],
      bucket['sum_input_tokens'],
      bucket['max_input_tokens'],
      bucket['p50_input_tokens'],
      bucket['sum_output_tokens'],
      bucket['sum_total_tokens'],
      bucket['sum_cache_read_input_tokens'],
      bucket['count'],
    ])
    expect(rows).toEqual([
      ['00', 'a', 4, 3, 2, 6, 10, 0, 2],
      ['00', 'b', 5, 5, 5, 0, 5, 2, 1],
      ['01', 'a', 0, null, null, 0, 0, 0, 0],
      ['01', 'b', 0, null, null, 0, 0, 0, 0],
      ['02', 'a', 7, 7, 7, 0, 7, 0, 1],
      ['02', 'b', 0, null, null, 0, 0, 0, 0],
    ])
  })

  it('200 with costs at the current prices, cached tokens at a separate price', async () => {
    const project = server.newProject()
    const price = { prompt_token_cost: 1, completion_token_cost: 10, cache_read_input_token_cost: 0.5 }
    await server.post('/cost/create', { project_id: project, costs: { [`m-${project}`]: price } })
    const usage = { prompt_tokens: 5, cache_read_input_tokens: 4, completion_tokens: 2 }
    await write(project, call('00:00:00', 1, { summary: { usage: { [`m-${project}`]: usage, z: usage } } }))
    const metrics = ['input_cost', 'output_cost', 'total_cost']
    const { usage_buckets } = await stats(project, {
      usage_metrics: metrics.map((metric) => ({ metric })),
      end: '2026-01-01T01:00:00Z',
    })
    expect(usage_buckets).toMatchObject([
      { model: `m-${project}`, sum_input_cost: 1, sum_output_cost: 20, sum_total_cost: 23 },
      { model: 'z', sum_input_cost: 0, sum_output_cost: 0, sum_total_cost: 0, sum_input_tokens: 5 },
    ])
    const only = await stats(project, { usage_metrics: [{ metric: 'total_cost' }] })
    expect(only.usage_buckets[0]).not.toHaveProperty('sum_input_cost')
  })

  it('200 for the calls that a filter selects', async () => {
    const project = server.newProject()
    const root = call('00:00:00', 1, { op_name: 'a' })
    await write(project, root, call('00:00:00', 1, { op_name: 'b', parent_id: root['id'] }))
    const call_metrics = [{ metric: 'call_count' }]
    for (const [filter, count] of [
      [{ trace_roots_only: true }, 1],
      [{ op_names: ['b'] }, 1],
      [{ parent_ids: [root['id']], op_names: ['a'] }, 0],
      [{ trace_ids: [root['trace_id']] }, 1],
      [{}, 2],
    ] as const) {
      const { call_buckets } = await stats(project, { call_metrics, filter })
      expect(call_buckets[0]?.['sum_call_count'], JSON.stringify(filter)).toBe(count)
    }
  })

  it('200 for the calls that a query of any field selects, together with a filter', async () => {
    const project = server.newProject()
    const usage = { usage: { m: { prompt_tokens: 2 } } }
    const failed = call('00:00:00', 900, { exception: 'boom', inputs: { plan: 'pro' }, summary: usage })
    await write(
      project,
      failed,
      call('00:00:00', 100, { inputs: { plan: 'pro' }, summary: usage }),
      call('01:00:00', 100, { inputs: { plan: 'free' }, parent_id: failed['id'] }),
    )
    const weave_ref = `weave:///${project}/call/${String(failed['id'])}`
    const feedback = {
      project_id: project,
      weave_ref,
      feedback_type: 'wandb.note.1',
      payload: { note: 'odd' },
    }
    expect((await server.post('/feedback/create', feedback)).status).toBe(200)
    const field = ($getField: string) => ({ $getField })
    const is = (path: string, $literal: unknown) => ({ $eq: [field(path), { $literal }] })
    const slow = {
      $gt: [{ $convert: { input: field('summary.weave.latency_ms'), to: 'double' } }, { $literal: 500 }],
    }
    const metrics = { call_metrics: [{ metric: 'call_count' }], usage_metrics: [{ metric: 'input_tokens' }] }
    for (const [$expr, filter, count, tokens] of [
      [is('inputs.plan', 'pro'), null, 2, 4],
      [is('inputs.plan', 'pro'), { call_ids: [failed['id']] }, 1, 2],
      [{ $and: [is('inputs.plan', 'pro'), slow] }, null, 1, 2],
      [is('summary.weave.status', 'error'), { trace_roots_only: true }, 1, 2],
      [is('feedback.[wandb.note.1].payload.note', 'odd'), null, 1, 2],
      [is('inputs.plan', 'none'), null, 0, undefined],
    ] as const) {
      const { call_buckets, usage_buckets } = await stats(project, { ...metrics, filter, query: { $expr } })
      const found = [call_buckets[0]?.['sum_call_count'], usage_buckets[0]?.['sum_input_tokens']]
      expect(found, JSON.stringify($expr)).toEqual([count, tokens])
    }
    const { call_buckets } = await stats(project, { ...metrics, query: { $expr: is('inputs.plan', 'free') } })
    expect(call_buckets.map((bucket) => bucket['count'])).toEqual([0, 1, 0])
  })

  it.each([
    ['2026-01-01T02:00:00Z', 300, 24],
    ['2026-01-01T12:00:00Z', 3600, 12],
    ['2026-01-04T00:00:00Z', 21_600, 12],
    ['2026-01-15T00:00:00Z', 43_200, 28],
    ['2026-01-15T00:00:01Z', 86_400, 15],
  ])('200 with buckets by the length of the range: until %s of %i s', async (end, granularity, count) => {
    const reply = await stats(server.newProject(), {
      end,
      granularity: null,
      call_metrics: [{ metric: 'call_count' }],
    })
    expect([reply.granularity, reply.call_buckets.length]).toEqual([granularity, count])
  })

  it('200 with larger buckets than requested where there would be too many', async () => {
    const fields = { end: '2026-01-31T00:00:00Z', granularity: 1, call_metrics: [{ metric: 'call_count' }] }
    const reply = await stats(server.newProject(), fields)
    expect(reply.granularity).toBe(260)
    expect(reply.call_buckets.length).toBeLessThanOrEqual(10_000)
  })

  it('200 with buckets that begin by the clock of the timezone', async () => {
    const project = server.newProject()
    await write(project, call('04:59:00', 1), call('05:00:00', 1))
    const days = { start: '2026-01-01T01:00:00Z', end: '2026-01-02T00:00:00Z', granularity: 86_400 }
    const reply = await stats(project, {
      ...days,
      timezone: 'America/New_York',
      call_metrics: [{ metric: 'call_count' }],
    })
    expect(reply.call_buckets.map((bucket) => [bucket['timestamp'], bucket['count']])).toEqual([
      ['2025-12-31T05:00:00.000000Z', 1],
      ['2026-01-01T05:00:00.000000Z', 1],
    ])
  })

  it.each(['1960-02-29T12:00:00', '1970-01-01T00:00:00', '2150-06-01T00:00:00'])(
    '200 in the right buckets around %s',
    async (time) => {
      const project = server.newProject()
      const around = (seconds: number) => new Date(Date.parse(`${time}Z`) + seconds * 1000).toISOString()
      const started = (seconds: number) =>
        finishedCall({ started_at: around(seconds), ended_at: around(seconds + 1) })
      await write(project, started(-3600), started(-0.5), started(-0.001), started(0), started(3599.5))
      const range = { start: around(-3600), end: around(3600), granularity: 3600 }
      const call_metrics = [{ metric: 'call_count' }]
      const reply = await stats(project, { ...range, call_metrics })
      expect(reply.call_buckets.map(({ count }) => count)).toEqual([3, 2])
      const whole = await stats(project, { ...range, call_metrics, granularity: Number.MAX_SAFE_INTEGER })
      expect(whole.call_buckets.reduce((sum, { count }) => sum + Number(count), 0)).toBe(5)
    },
  )

  it('200 without metrics, and until now without an end', async () => {
    const start = new Date(Date.now() - 1000).toISOString()
    const reply = await stats(server.newProject(), { start, end: null })
    expect(reply).toMatchObject({ usage_buckets: [], call_buckets: [] })
    expect(Date.parse(reply.end)).toBeGreaterThan(Date.parse(reply.start))
  })

  it('400 for more aggregates than the database takes', async () => {
    const percentiles = Array.from({ length: 100_000 }, (_, index) => index / 1000)
    const call_metrics = [{ metric: 'latency_ms', percentiles }]
    const response = await server.post('/calls/stats', {
      project_id: server.newProject(),
      ...RANGE,
      call_metrics,
    })
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('1000 aggregates'),
    ])
  })

  it('413 for more numbers, or longer names, than a reply has room for, before they are read where that is known', async () => {
    const project = server.newProject()
    const range = { end: '2026-01-01T02:46:40Z', granularity: 1 }
    const aggregations = ['sum', 'avg', 'min', 'max', 'count']
    const refusal = async (fields: Fields) => {
      const response = await server.post('/calls/stats', {
        project_id: project,
        ...RANGE,
        ...range,
        ...fields,
      })
      return [response.status, await response.text()]
    }
    const percentiles = Array.from({ length: 51 }, (_, index) => index)
    const many = { aggregations: [], percentiles }
    const tooMany = [413, expect.stringMatching(/10000 buckets of 51 aggregates.*500000 numbers/)]
    expect(await refusal({ call_metrics: [{ metric: 'latency_ms', ...many }] })).toEqual(tooMany)
    expect(await refusal({ usage_metrics: [{ metric: 'input_tokens', ...many }] })).toEqual(tooMany)

    const usageOf = (models: readonly string[]) => ({
      summary: { usage: Object.fromEntries(models.map((model) => [model, { prompt_tokens: 1 }])) },
    })
    const usage_metrics = [{ metric: 'input_tokens', aggregations }]
    await write(project, call('00:00:00', 1, usageOf(Array.from({ length: 11 }, (_, index) => `m${index}`))))
    expect(await refusal({ usage_metrics })).toEqual([413, expect.stringContaining('11 models')])
    const { usage_buckets } = await stats(project, { ...range, usage_metrics, granularity: 100 })
    expect(usage_buckets.length).toBe(100 * 11)

    await write(project, call('12:00:00', 1, usageOf(['m'.repeat(10_000)])))
    const noon = { start: '2026-01-01T12:00:00Z', end: '2026-01-01T14:46:40Z' }
    const longNames = [413, expect.stringContaining('characters of names')]
    expect(await refusal({ ...noon, usage_metrics: [{ metric: 'input_tokens' }] })).toEqual(longNames)
  })

  it('400 for invalid percentiles', async () => {
    for (const percentile of [-1, 100.5]) {
      const call_metrics = [{ metric: 'latency_ms', percentiles: [percentile] }]
      const body = { project_id: server.newProject(), ...RANGE, call_metrics }
      expect((await server.post('/calls/stats', body)).status).toBe(400)
    }
  })

  it.each([
    { end: '2025-12-31T23:59:59Z' },
    { end: '2026-02-01T00:00:01Z' },
    { start: 'yesterday' },
    { timezone: 'Mars/Olympus' },
    { granularity: 0 },
    { call_metrics: [{ metric: 'prompts' }] },
    { query: { $expr: { $near: [] } } },
    { call_metrics: [{ metric: 'latency_ms', aggregations: ['median'] }] },
  ])('422 for %j', async (fields) => {
    const body = { project_id: server.newProject(), ...RANGE, ...fields }
    expect((await server.post('/calls/stats', body)).status).toBe(422)
  })
})
