import { describe, expect, it } from 'vitest'
import type { Query } from '../../query-language/wire.ts'
import type { CallsStreamQueryReq } from '../messages/list-wire.ts'
import { checkedPage } from './list.ts'
import { mayReadRanges, planRead, rendererOf, type Source, type Step } from './plan.ts'

type Req = Omit<CallsStreamQueryReq, 'project_id'>

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' as const }]
const BY_SCORE = [{ field: 'output.score', direction: 'desc' as const }]
const CONTAINS: Query = {
  $expr: { $contains: { input: { $getField: 'inputs.text' }, substr: { $literal: 'needle' } } },
}
const RUNS_LONG: Query = {
  $expr: { $gt: [{ $getField: 'summary.weave.latency_ms' }, { $literal: 9 }] },
}

const SCORE = { $getField: 'output.score' }
const SCORES_HIGH: Query = {
  $expr: { $gt: [{ $convert: { input: SCORE, to: 'double' } }, { $literal: 0.9 }] },
}
const SINCE = { $gte: [{ $getField: 'started_at' }, { $literal: 1e9 }] } satisfies Query['$expr']

const listOf = (fields: Req) => {
  const req = { project_id: 'me/project', ...fields }
  return { req, selection: req, page: checkedPage(req) }
}

function planOf(fields: Req, table: 'small' | 'large' = 'large'): Step[] {
  return planRead(listOf(fields), { isLargeTable: table === 'large', areCallsKnown: false })
}

/** The sources and shapes of a plan's steps, in short. */
function shown({ source, shape, sortBy, isLong }: Step): string {
  return [
    nameOf(source),
    shape,
    ...(sortBy === 'truncated' ? [sortBy] : []),
    ...(isLong ? ['long'] : []),
  ].join()
}

function nameOf(source: Source): string {
  if (source.kind === 'window') return `${source.window.direction} ${source.window.calls}`
  return source.kind === 'ids' ? `${source.ids.length} ids` : source.kind
}

describe('the plan of a list', () => {
  it.each<[string, Req, string[]]>([
    ['all calls', {}, ['full scan,batches,long']],
    ['a few ids, each once', { filter: { call_ids: ['a', 'b', 'a'] } }, ['2 ids,page']],
    [
      'a few ids with the sizes of their traces',
      { filter: { call_ids: ['a'] }, include_total_storage_size: true },
      ['1 ids,batches'],
    ],
    [
      'many ids',
      { filter: { call_ids: Array.from({ length: 201 }, (_, index) => `${index}`) } },
      ['full scan,batches,long'],
    ],
    ['a trace', { filter: { trace_ids: ['t'] } }, ['prefilter,page', 'full scan,batches,long']],
    [
      'the newest of a thread',
      { filter: { thread_ids: ['t'] }, sort_by: NEWEST_FIRST, limit: 100 },
      ['prefilter,page', 'full scan,page'],
    ],
    [
      'the newest',
      { sort_by: NEWEST_FIRST, limit: 50 },
      ['desc 64,page', 'desc 1024,page', 'desc 16384,page', 'full scan,batches'],
    ],
    [
      'the oldest, and more than a page',
      { limit: 101 },
      ['asc 128,batches,long', 'asc 2048,batches,long', 'asc 32768,batches,long', 'full scan,batches,long'],
    ],
    [
      'a page far from the newest',
      { sort_by: NEWEST_FIRST, limit: 50, offset: 100_000 },
      ['desc 131072,page', 'full scan,batches'],
    ],
    [
      'a page further away than windows reach',
      { sort_by: NEWEST_FIRST, limit: 50, offset: 200_000 },
      ['full scan,batches'],
    ],
    [
      'the newest that a query selects, which is looked for among many',
      { sort_by: NEWEST_FIRST, limit: 50, query: RUNS_LONG },
      ['desc 16384,page', 'full scan,batches'],
    ],
    [
      'the newest with a text, which rows may show to be few',
      { sort_by: NEWEST_FIRST, limit: 50, query: CONTAINS },
      ['prefilter,page', 'desc 16384,page', 'full scan,batches'],
    ],
    ['an order by a payload', { sort_by: BY_SCORE, limit: 50 }, ['full scan,batches,truncated']],
    [
      'an order by a payload after the start time',
      { sort_by: [...NEWEST_FIRST, ...BY_SCORE], limit: 100, offset: 8000 },
      ['desc 8192,batches,truncated', 'desc 131072,batches,truncated', 'full scan,batches,truncated'],
    ],
  ])('of a large table: %s', (_name, fields, steps) => {
    expect(planOf(fields).map(shown)).toEqual(steps)
  })

  it.each<[string, Req, string[]]>([
    ['the newest', { sort_by: NEWEST_FIRST, limit: 50 }, ['full scan,page']],
    ['more than a page', { limit: 101 }, ['full scan,batches,long']],
    ['none', { limit: 0 }, ['full scan,page']],
    ['an order by a payload', { sort_by: BY_SCORE, limit: 50 }, ['full scan,batches,truncated']],
    ['a trace', { filter: { trace_ids: ['t'] }, limit: 50 }, ['prefilter,page', 'full scan,page']],
  ])('of a small table: %s', (_name, fields, steps) => {
    expect(planOf(fields, 'small').map(shown)).toEqual(steps)
  })

  it('uses the index of words of a large table alone', () => {
    const usesIndex = (table: 'small' | 'large'): boolean =>
      planOf({ query: CONTAINS }, table).some(
        ({ source }) => source.kind === 'prefilter' && source.usesWordIndex,
      )
    expect([usesIndex('small'), usesIndex('large')]).toEqual([false, true])
  })

  it.each<[string, Req, string[]]>([
    ['a trace', { filter: { trace_ids: ['t'] }, limit: 50 }, ['prefilter,batches', 'full scan,batches']],
    [
      'a condition on a payload',
      { sort_by: NEWEST_FIRST, limit: 50, query: SCORES_HIGH },
      ['full scan,batches'],
    ],
    ['an order by a payload', { sort_by: BY_SCORE, limit: 50 }, ['full scan,batches,truncated']],
  ])('finds ids alone where memory knows the calls: %s', (_name, fields, steps) => {
    const plan = planRead(listOf(fields), { isLargeTable: false, areCallsKnown: true })
    expect(plan.map(shown)).toEqual(steps)
  })

  it.each<[string, Req, string[]]>([
    [
      'a condition on it, which rows may show to be few',
      { sort_by: NEWEST_FIRST, limit: 50, query: SCORES_HIGH },
      ['prefilter,page', 'desc 16384,page', 'full scan,batches'],
    ],
    [
      'an order by it of the calls that a condition on it selects',
      { sort_by: BY_SCORE, limit: 50, query: SCORES_HIGH },
      ['prefilter,page,truncated', 'full scan,batches,truncated'],
    ],
    [
      'the same condition in a range of start times',
      { sort_by: NEWEST_FIRST, limit: 50, query: { $expr: { $and: [SINCE, SCORES_HIGH.$expr] } } },
      ['desc 16384,page', 'full scan,batches'],
    ],
    [
      'a comparison with another field',
      { limit: 50, query: { $expr: { $eq: [SCORE, { $getField: 'inputs.a' }] } } },
      ['asc 16384,page', 'full scan,batches'],
    ],
    [
      'an order by an attribute',
      { sort_by: [{ field: 'attributes.env', direction: 'asc' }], limit: 50 },
      ['full scan,batches,truncated'],
    ],
  ])('with a leaf column: %s', (_name, fields, steps) => {
    const list = listOf(fields)
    const leafColumns = new Set(['output.score', 'attributes.env'])
    const plan = planRead(
      { ...list, selection: { ...list.selection, leafColumns } },
      { isLargeTable: true, areCallsKnown: false },
    )
    expect(plan.map(shown)).toEqual(steps)
  })

  it('is refused for fields that calls do not have', () => {
    const $contains = { input: { $getField: 'inputs..a' }, substr: { $literal: 'needle' } }
    expect(() => planOf({ query: { $expr: { $contains } } })).toThrow(
      expect.objectContaining({ status: 403 }),
    )
  })
})

describe('the plan of a batch', () => {
  it('has few calls written as JSON by the server, and many by the database', () => {
    expect([1, 499, 500, 10_000].map(rendererOf)).toEqual(['server', 'server', 'database', 'database'])
  })

  it.each<[boolean, Req]>([
    [true, {}],
    [true, { sort_by: NEWEST_FIRST, filter: { op_names: ['a'] } }],
    [false, { sort_by: BY_SCORE }],
    [false, { sort_by: [...NEWEST_FIRST, { field: 'id', direction: 'asc' }] }],
    [false, { query: CONTAINS }],
  ])('may be a range: %s for %j', (expected, fields) => {
    expect(mayReadRanges(listOf(fields))).toBe(expected)
  })
})
