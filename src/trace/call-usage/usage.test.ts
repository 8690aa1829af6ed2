import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { exportSpans, spanOf } from '../otlp/test-spans.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

function call(usage: Fields | undefined, fields: Fields = {}): Fields {
  return finishedCall({ summary: usage === undefined ? {} : { usage }, ...fields })
}

const write = (project: string, ...calls: Fields[]) => writeCalls(server, project, calls)

async function usage(path: string, body: Fields): Promise<{ call_usage: Fields; unfinished: unknown }> {
  const reply = await replyOf<Record<string, Fields>>(await server.post(path, body))
  const { call_usage, unfinished_call_ids } = reply
  return { call_usage: call_usage ?? {}, unfinished: unfinished_call_ids }
}

const used = (fields: Fields) => ({
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
  ...fields,
})

/** A trace: a root with a child that has a child, and a call beside them that has not ended. */
function family() {
  const root = call({ m: { requests: 1, prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 } })
  const within = { trace_id: root['trace_id'] }
  const child = call({ m: { input_tokens: 10, output_tokens: 20 } }, { ...within, parent_id: root['id'] })
  const grandchild = call(
    { n: { requests: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5 } },
    { ...within, parent_id: child['id'] },
  )
  const other = call({ m: { requests: 0 }, odd: 'text' }, within)
  return { root, child, grandchild, other, all: [grandchild, other, root, child] }
}

async function written(project: string) {
  const made = family()
  await write(project, ...made.all)
  const open = newId()
  const start = { ...call(undefined), project_id: project, id: open, trace_id: made.root['trace_id'] }
  await server.post('/call/start', { start: { ...start, parent_id: made.root['id'] } })
  return { ...made, open }
}

describe('POST /trace/usage', () => {
  it('200 with the usage of each call and its descendants, and which have not ended', async () => {
    const project = server.newProject()
    const { root, child, grandchild, other, open } = await written(project)
    const reply = await usage('/trace/usage', { project_id: project })
    const n = used({ requests: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5 })
    expect(reply.call_usage).toEqual({
      [String(root['id'])]: {
        m: used({ requests: 1, prompt_tokens: 11, completion_tokens: 22, total_tokens: 39 }),
        n,
      },
      [String(child['id'])]: { m: used({ prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }), n },
      [String(grandchild['id'])]: { n },
      [String(other['id'])]: {},
      [open]: {},
    })
    expect(reply.unfinished).toEqual([open])
  })

  it('200 with descendants only among the calls that a filter, a query and the limit select', async () => {
    const project = server.newProject()
    const { root, child, grandchild } = await written(project)
    const call_ids = [root, grandchild].map((made) => String(made['id']))
    const { call_usage } = await usage('/trace/usage', { project_id: project, filter: { call_ids } })
    expect(call_usage[call_ids[0] ?? '']).toEqual({
      m: used({ requests: 1, prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 }),
    })
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: child['id'] }] } }
    const queried = await usage('/trace/usage', { project_id: project, query })
    expect(Object.keys(queried.call_usage)).toEqual([child['id']])
    const limited = await usage('/trace/usage', { project_id: project, limit: 2 })
    expect(Object.keys(limited.call_usage)).toHaveLength(2)
    const nothing = await usage('/trace/usage', { project_id: server.newProject() })
    expect(nothing).toEqual({ call_usage: {}, unfinished: [] })
  })

  it('200 with costs on request, which are 0 where there is no price', async () => {
    const project = server.newProject()
    const price = { prompt_token_cost: 1, completion_token_cost: 2, cache_read_input_token_cost: 0.5 }
    const effective_date = '2025-01-01T00:00:00Z'
    await server.post('/cost/create', {
      project_id: project,
      costs: { [`priced-${project}`]: { ...price, effective_date } },
    })
    const model = `priced-${project}`
    const root = call({ [model]: { prompt_tokens: 5, completion_tokens: 2, cache_read_input_tokens: 4 } })
    const child = call(
      { [model]: { prompt_tokens: 10 }, unpriced: { prompt_tokens: 1 } },
      { parent_id: root['id'], trace_id: root['trace_id'] },
    )
    await write(project, root, child)
    const { call_usage } = await usage('/trace/usage', { project_id: project, include_costs: true })
    expect(call_usage[String(root['id'])]).toMatchObject({
      [model]: {
        prompt_tokens: 15,
        prompt_tokens_total_cost: 11,
        completion_tokens_total_cost: 4,
        cache_read_input_tokens_total_cost: 2,
        cache_creation_input_tokens_total_cost: 0,
      },
      unpriced: { prompt_tokens: 1, prompt_tokens_total_cost: 0 },
    })
  })

  it.each<unknown>([5, { a: 1 }, { fake: { prompt_tokens_total_cost: 7 } }])(
    '200 whatever a client has written where costs are shown: %j',
    async (costs) => {
      const project = server.newProject()
      const odd = call({ fake: { prompt_tokens: 10 } })
      await write(project, { ...odd, summary: { usage: { fake: { prompt_tokens: 10 } }, weave: { costs } } })
      for (const [path, chosen] of [
        ['/trace/usage', {}],
        ['/calls/usage', { call_ids: [odd['id']] }],
      ] as const) {
        const { call_usage } = await usage(path, { project_id: project, include_costs: true, ...chosen })
        expect(call_usage[String(odd['id'])]).toMatchObject({
          fake: { prompt_tokens: 10, prompt_tokens_total_cost: 0 },
        })
      }
    },
  )

  it('200 for calls that are each other’s ancestors', async () => {
    const project = server.newProject()
    const a = call({ m: { requests: 1 } })
    const b = call({ m: { requests: 1 } }, { parent_id: a['id'] })
    await write(project, { ...a, parent_id: b['id'] }, b)
    const { call_usage } = await usage('/trace/usage', { project_id: project })
    expect(Object.keys(call_usage)).toHaveLength(2)
  })

  it('413 where each call of a deep trace would show the models of all those below it', async () => {
    const project = server.newProject()
    const trace_id = newId()
    const ids = Array.from({ length: 501 }, () => newId())
    const models = Array.from({ length: 500 }, (_, index) => [`m${index}`, { requests: 1 }])
    const calls = ids.map((id, index) => {
      const used = index === ids.length - 1 ? Object.fromEntries(models) : {}
      return call(used, { id, trace_id, parent_id: ids[index - 1] ?? null })
    })
    await write(project, ...calls)
    const response = await server.post('/trace/usage', { project_id: project })
    expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('250000 pairs')])
    const filter = { call_ids: ids.slice(1) }
    const { call_usage } = await usage('/trace/usage', { project_id: project, filter, limit: 10 })
    expect(Object.keys(call_usage)).toHaveLength(10)
  })

  it('413 for names of models that are long and many', async () => {
    const project = server.newProject()
    const trace_id = newId()
    const ids = Array.from({ length: 100 }, () => newId())
    const used = { ['m'.repeat(1024 * 1024)]: { requests: 1 } }
    const calls = ids.map((id, index) =>
      call(index === ids.length - 1 ? used : {}, { id, trace_id, parent_id: ids[index - 1] ?? null }),
    )
    await write(project, ...calls)
    expect((await server.post('/trace/usage', { project_id: project })).status).toBe(413)
  })

  it('422 for a limit that is negative or would fill the memory', async () => {
    for (const limit of [-1, 1_000_000])
      expect((await server.post('/trace/usage', { project_id: server.newProject(), limit })).status).toBe(422)
  })
})

describe('POST /calls/usage', () => {
  it('200 for the given calls only, with all their descendants and the unfinished of their traces', async () => {
    const project = server.newProject()
    const { child, grandchild, open } = await written(project)
    const { call_usage: all } = await usage('/trace/usage', { project_id: project })
    await write(project, call({ m: { requests: 1 } }))
    const call_ids = [String(child['id']), String(grandchild['id'])]
    const reply = await usage('/calls/usage', { project_id: project, call_ids: [...call_ids, 'unknown'] })
    expect(reply).toEqual({
      call_usage: { ...Object.fromEntries(call_ids.map((id) => [id, all[id]])), unknown: {} },
      unfinished: [open],
    })
  })

  it('200 with an empty reply for no calls and for unknown ones', async () => {
    const project = server.newProject()
    await written(project)
    expect(await usage('/calls/usage', { project_id: project, call_ids: [] })).toEqual({
      call_usage: {},
      unfinished: [],
    })
    const id = newId()
    expect(await usage('/calls/usage', { project_id: project, call_ids: [id] })).toEqual({
      call_usage: { [id]: {} },
      unfinished: [],
    })
  })

  it('400 for more than 1000 calls', async () => {
    const call_ids = Array.from({ length: 1001 }, () => newId())
    const response = await server.post('/calls/usage', { project_id: server.newProject(), call_ids })
    expect(response.status).toBe(400)
  })
})

describe('POST /calls/usage and /calls/stats', () => {
  it.each([
    [
      'both names of tokens',
      { 'ai.usage.promptTokens': 10, 'ai.usage.completionTokens': 3 },
      { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 3 },
      [10, 3, 13],
    ],
    ['input tokens only', {}, { 'gen_ai.usage.input_tokens': 10 }, [10, 0, 10]],
  ])('200 with equal tokens of a span with %s', async (_what, own, common, counts) => {
    const project_id = server.newProject()
    const span = spanOf({ attributes: { 'ai.model.id': 'm', ...own, ...common } })
    await exportSpans(server, project_id, span)
    const { call_usage } = await usage('/calls/usage', { project_id, call_ids: [span.spanId] })
    const [prompt_tokens, completion_tokens, total_tokens] = counts
    expect(call_usage).toMatchObject({
      [span.spanId]: { m: { prompt_tokens, completion_tokens, total_tokens } },
    })
    const metrics = ['input_tokens', 'output_tokens', 'total_tokens']
    const range = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00Z', granularity: 3600 }
    const req = { project_id, ...range, usage_metrics: metrics.map((metric) => ({ metric })) }
    const { usage_buckets } = await replyOf<{ usage_buckets: Fields[] }>(
      await server.post('/calls/stats', req),
    )
    expect(metrics.map((metric) => usage_buckets[0]?.[`sum_${metric}`])).toEqual(counts)
  })
})
