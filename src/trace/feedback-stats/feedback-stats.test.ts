import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

/** Two hours around the present, at which tests create feedback. */
const HOUR = 3600_000
const lastHour = () => ({
  start: new Date(Date.now() - HOUR).toISOString(),
  end: new Date(Date.now() + HOUR).toISOString(),
  granularity: 300,
})

async function ok(path: string, body: unknown): Promise<Fields> {
  return replyOf(await server.post(path, body))
}

async function say(project_id: string, payload: Fields, fields: Fields = {}): Promise<void> {
  const weave_ref = `weave:///${project_id}/call/${newId()}`
  await ok('/feedback/create', { project_id, weave_ref, feedback_type: 'custom', payload, ...fields })
}

/** The fields of feedback that name its scorer and the monitor that triggered it. */
function scored(scorer: string, version: string): Fields {
  const ref = (name: string) => `weave:///a/b/object/${name}:${version}`
  return { feedback_type: `wandb.runnable.${scorer}`, runnable_ref: ref(scorer), trigger_ref: ref('monitor') }
}

const stats = (project_id: string, fields: Fields) =>
  ok('/feedback/stats', { project_id, ...lastHour(), ...fields })

/** The span of time that statistics put together here. */
const BUCKET_MS = 300_000

/** Feedback has the time of its arrival, so it is written again in a new project where that was not in one bucket. */
async function sayInOneBucket(payloads: readonly Fields[]): Promise<string> {
  const bucketNow = (): number => Math.floor(Date.now() / BUCKET_MS)
  for (;;) {
    const bucket = bucketNow()
    const project = server.newProject()
    for (const payload of payloads) await say(project, payload)
    if (bucketNow() === bucket) return project
  }
}

/** The one bucket with feedback, and the number of buckets. */
function busy({ buckets }: Fields): [Fields | undefined, number] {
  const all = buckets as Fields[]
  return [all.find((bucket) => bucket['count'] !== 0), all.length]
}

const steps = (count: number): string => Array.from({ length: count }, () => 'a').join('.')

describe('POST /feedback/stats', () => {
  it('200 with ratings and tags that scorers send beside the payload, by name', async () => {
    const project = server.newProject()
    const beside = (quality: number) => ({
      scorer_ratings: { quality },
      scorer_rating_reasons: { quality: 'short' },
      scorer_tag_confidences: { rude: 0.5 },
    })
    await say(project, { score: 1 }, beside(0.25))
    await say(project, { score: 1 }, beside(0.75))
    await say(project, { scorer_ratings: { quality: 2 } })
    const { window_stats } = await stats(project, {
      metrics: [
        { json_path: 'scorer_ratings.quality', aggregations: ['sum', 'count'] },
        { json_path: 'scorer_tag_confidences.rude', aggregations: ['avg'] },
        { json_path: 'scorer_rating_reasons.quality', value_type: 'categorical' },
        { json_path: 'scorer_ratings.none', aggregations: ['count'] },
      ],
    })
    expect(window_stats).toMatchObject({
      scorer_ratings_quality: { sum: 3, count: 3 },
      scorer_tag_confidences_rude: { avg: 0.5 },
      scorer_rating_reasons_quality: { count: 2 },
      scorer_ratings_none: { count: 0 },
    })
  })

  it('200 with aggregates of payload values by bucket and for the whole range', async () => {
    const project = await sayInOneBucket([
      { score: { of: 1 }, good: true, 'Bad Request': 'x', text: '7' },
      { score: { of: 4 }, good: false, 'Bad Request': null },
      { score: { of: 'high' }, good: 'yes' },
    ])
    const metrics = [
      { json_path: 'score.of', percentiles: [50] },
      { json_path: 'score.of', aggregations: ['sum', 'count'] },
      { json_path: 'good', value_type: 'boolean', percentiles: [50] },
      { json_path: 'Bad Request', value_type: 'categorical' },
      { json_path: 'text' },
    ]
    const reply = await stats(project, { metrics })
    const [bucket, count] = busy(reply)
    expect(reply).toMatchObject({ granularity: 300, timezone: 'UTC' })
    expect([24, 25]).toContain(count)
    expect(bucket).toEqual({
      timestamp: expect.stringMatching(/Z$/),
      avg_score_of: 2.5,
      min_score_of: 1,
      max_score_of: 4,
      p50_score_of: 2.5,
      sum_score_of: 5,
      count_score_of: 2,
      count_true_good: 1,
      count_false_good: 1,
      count_Bad_Request: 1,
      avg_text: 0,
      min_text: null,
      max_text: null,
      count: 3,
    })
    expect(reply['window_stats']).toEqual({
      score_of: { avg: 2.5, min: 1, max: 4, p50: 2.5, sum: 5, count: 2 },
      good: { count_true: 1, count_false: 1 },
      Bad_Request: { count: 1 },
      text: { avg: null, min: null, max: null },
    })
  })

  it('200 for a type, and for a trigger of one version or of any', async () => {
    const project = server.newProject()
    await say(project, { output: 1 }, scored('s', 'v1'))
    await say(project, { output: 2 }, scored('s', 'v2'))
    await say(project, { output: 4 })
    const metrics = [{ json_path: 'output', aggregations: ['sum'] }]
    const sum = async (fields: Fields) => (await stats(project, { metrics, ...fields }))['window_stats']
    expect(await sum({})).toEqual({ output: { sum: 7 } })
    expect(await sum({ feedback_type: 'custom' })).toEqual({ output: { sum: 4 } })
    expect(await sum({ trigger_ref: 'weave:///a/b/object/monitor:v1' })).toEqual({ output: { sum: 1 } })
    expect(await sum({ trigger_ref: 'weave:///a/b/object/monitor:*' })).toEqual({ output: { sum: 3 } })
    expect((await stats(server.newProject(), { metrics }))['window_stats']).toEqual({ output: { sum: null } })
  })

  it('200 with null for a sum and an average that are beyond all numbers', async () => {
    const project = await sayInOneBucket([{ score: 1.5e308 }, { score: 1.5e308 }])
    const metrics = [
      { json_path: 'score', aggregations: ['sum', 'avg', 'count'] },
      { json_path: 'other', aggregations: ['sum'] },
    ]
    const reply = await stats(project, { metrics })
    const [bucket] = busy(reply)
    expect(bucket).toMatchObject({ sum_score: null, avg_score: null, count_score: 2, sum_other: 0, count: 2 })
    expect(reply['window_stats']).toEqual({
      score: { sum: null, avg: null, count: 2 },
      other: { sum: null },
    })
  })

  it('400 at once for a long path that none can have', async () => {
    const metrics = [{ json_path: `${'a'.repeat(1_000_000)}!` }]
    const body = { project_id: server.newProject(), ...lastHour(), metrics }
    expect((await server.post('/feedback/stats', body)).status).toBe(400)
  })

  it('413 for more numbers, or longer names, than a reply has room for', async () => {
    const range = { start: '2026-01-01T00:00:00Z', end: '2026-01-01T02:46:40Z', granularity: 1 }
    const percentiles = Array.from({ length: 51 }, (_, index) => index)
    for (const metrics of [
      [{ json_path: 'a', aggregations: ['sum'], percentiles }],
      ['a', 'b', 'c', 'd', 'e'].map((letter) => ({ json_path: letter.repeat(500) })),
    ]) {
      const body = { project_id: server.newProject(), ...range, metrics }
      const response = await server.post('/feedback/stats', body)
      expect([response.status, await response.text()]).toEqual([
        413,
        expect.stringContaining('10000 buckets'),
      ])
    }
  })

  it('200 without buckets where no metric is requested', async () => {
    const reply = await stats(server.newProject(), {})
    expect(reply).toMatchObject({ buckets: [], granularity: 3600, window_stats: null })
  })

  it.each([
    [400, { metrics: [{ json_path: `a'); DROP TABLE feedback; --` }] }],
    [400, { metrics: [{ json_path: ' ' }] }],
    [400, { metrics: [{ json_path: 'a', value_type: 'categorical', aggregations: ['avg'] }] }],
    [400, { metrics: [{ json_path: 'a.b' }, { json_path: 'a_b' }] }],
    [400, { metrics: [{ json_path: 'a' }, { json_path: 'a', value_type: 'boolean' }] }],
    [
      400,
      {
        metrics: [
          { json_path: 'a', value_type: 'boolean' },
          { json_path: 'true_a', value_type: 'categorical' },
        ],
      },
    ],
    [200, { metrics: [{ json_path: 'a' }, { json_path: ' a ', aggregations: ['sum', 'avg'] }] }],
    [200, { metrics: [{ json_path: steps(32) }] }],
    [400, { metrics: [{ json_path: steps(33) }] }],
    [400, { metrics: [{ json_path: 'a'.repeat(501) }] }],
    [422, { metrics: [{ json_path: 'a', value_type: 'text' }] }],
    [422, { end: '2020-01-01T00:00:00Z' }],
    [422, { start: '2020-01-01T00:00:00Z' }],
  ])('%i for %j', async (status, fields) => {
    const body = { project_id: server.newProject(), ...lastHour(), ...fields }
    expect((await server.post('/feedback/stats', body)).status).toBe(status)
  })
})

describe('POST /feedback/payload_schema', () => {
  const schema = async (project_id: string, fields: Fields = {}) =>
    (await ok('/feedback/payload_schema', { project_id, ...lastHour(), ...fields }))['paths']

  it('200 with the leaves of the newest payload of each trigger, sorted, with their types', async () => {
    const project = server.newProject()
    await say(project, { output: { old: 1 } }, scored('s', 'v1'))
    await say(
      project,
      {
        output: { score: 0.5, ok: true, note: 'x', none: null, tags: ['a', 'b'], list: [{ a: 1 }], 'a.b': 1 },
      },
      scored('s', 'v1'),
    )
    await say(
      project,
      { output: { score: 1, ok: 'yes', none: null }, 'Low quality': 1, é: 1 },
      scored('s', 'v2'),
    )
    expect(await schema(project)).toEqual([
      { json_path: 'Low quality', value_type: 'numeric' },
      { json_path: 'output.none', value_type: null },
      { json_path: 'output.note', value_type: 'categorical' },
      { json_path: 'output.ok', value_type: 'categorical' },
      { json_path: 'output.score', value_type: 'numeric' },
      { json_path: 'output.tags', value_type: 'categorical' },
    ])
    expect(await schema(project, { sample_limit: 1 })).toHaveLength(4)
    expect(await schema(project, { trigger_ref: 'weave:///a/b/object/monitor:v2' })).toHaveLength(4)
    expect(await schema(project, { feedback_type: 'custom' })).toEqual([])
    expect(await schema(server.newProject())).toEqual([])
  })

  it('200 with the leaves of the newest payloads without a trigger, as many as are asked for', async () => {
    const project = server.newProject()
    await say(project, { v: 1, ok: true, tag: 'a' })
    await say(project, { output: 1 }, scored('s', 'v1'))
    await say(project, { v: 2 })
    await say(project, { last: 3 })
    const paths = async (fields?: Fields) =>
      ((await schema(project, fields)) as Fields[]).map((path) => path['json_path'])
    expect(await paths()).toEqual(['last', 'ok', 'output', 'tag', 'v'])
    expect(await paths({ sample_limit: 2 })).toEqual(['last', 'output', 'v'])
    expect(await paths({ sample_limit: 1 })).toEqual(['last', 'output'])
  })

  it('200 with the leaves of as many large payloads without a trigger as are read, the newest', async () => {
    const project = server.newProject()
    const text = 'x'.repeat(1_000_000)
    for (let n = 0; n < 9; n++) await say(project, { [`p${n}`]: text })
    const paths = ((await schema(project)) as Fields[]).map((path) => path['json_path'])
    expect(paths).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'])
  })

  it('200 without paths of keys that are data, at once also for keys that no path can have', async () => {
    const project = server.newProject()
    const long = 'a'.repeat(400_000)
    await say(project, { [long]: { a: 1 }, [`${long}!`]: 1, [' '.repeat(100_000)]: 1, b: 1 })
    expect(await schema(project)).toEqual([{ json_path: 'b', value_type: 'numeric' }])
  })

  it('413 for payloads with more paths than anyone chooses from', async () => {
    const project = server.newProject()
    const keys = (from: number): Fields =>
      Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k${from + index}`, 1]))
    await say(project, { output: keys(0) }, scored('s', 'v1'))
    expect(await schema(project)).toHaveLength(15_000)
    await say(project, { output: keys(15_000) }, scored('s', 'v2'))
    expect(
      (await server.post('/feedback/payload_schema', { project_id: project, ...lastHour() })).status,
    ).toBe(413)
  })

  it.each([{ sample_limit: 0 }, { sample_limit: 5001 }, { start: '2020-01-01' }])(
    '422 for %j',
    async (fields) => {
      const body = { project_id: server.newProject(), ...lastHour(), ...fields }
      expect((await server.post('/feedback/payload_schema', body)).status).toBe(422)
    },
  )
})

describe('POST /feedback/aggregate', () => {
  const ranged = () => ({ after_ms: Date.now() - HOUR, before_ms: Date.now() + HOUR })
  const buckets = async (project_id: string, fields: Fields = {}) =>
    (await ok('/feedback/aggregate', { project_id, ...ranged(), ...fields }))['buckets'] as Fields[]
  const total = async (project_id: string, fields: Fields) =>
    (await buckets(project_id, fields))[0]?.['total_count']

  async function seeded(): Promise<string> {
    const project = server.newProject()
    const turn = `weave:///${project}/agent_turn/${newId()}`
    await say(
      project,
      { output: 1 },
      {
        ...scored('a', 'v1'),
        weave_ref: turn,
        scorer_tags: ['rude', 'long', 'rude'],
        scorer_ratings: { _rating_: 0.25, zero: 0 },
        scorer_rating_reasons: { _rating_: 'because' },
        span_agent_name: 'bot',
        span_status_code: 'OK',
      },
    )
    const conversation = `weave:///${project}/agent_conversation/c`
    await say(
      project,
      { output: 1 },
      {
        ...scored('a', 'v2'),
        weave_ref: conversation,
        scorer_tags: ['rude'],
        scorer_ratings: { _rating_: 0.5 },
      },
    )
    await say(
      project,
      {},
      { scorer_tags: [], scorer_ratings: {}, span_agent_name: '', scorer_trace_id: null },
    )
    return project
  }

  it('200 with tags and ratings of all feedback together', async () => {
    const project = await seeded()
    const reply = await ok('/feedback/aggregate', { project_id: project, ...ranged() })
    expect(reply).toMatchObject({ time_bucket_seconds: null })
    expect(reply['buckets']).toEqual([
      {
        time_bucket_start_ms: null,
        group: {},
        total_count: 3,
        scored_count: 2,
        tag_counts: { rude: 2, long: 1 },
        rating_counts: { _rating_: 2, zero: 1 },
        rating_sums: { _rating_: 0.75, zero: 0 },
      },
    ])
    expect(await buckets(server.newProject())).toEqual([])
    expect(await buckets(project, { after_ms: 0, before_ms: 1 })).toEqual([])
  })

  it('200 by time and by group', async () => {
    const project = await seeded()
    const found = await buckets(project, {
      time_bucket_seconds: 1e6,
      group_by: ['scorer_id', 'span_agent_name'],
    })
    expect(found.map(({ group, total_count }) => [group, total_count])).toEqual([
      [{ scorer_id: '', span_agent_name: '' }, 1],
      [{ scorer_id: 'weave:///a/b/object/a:v1', span_agent_name: 'bot' }, 1],
      [{ scorer_id: 'weave:///a/b/object/a:v2', span_agent_name: '' }, 1],
    ])
    for (const bucket of found) expect(Number(bucket['time_bucket_start_ms']) % 1e9).toBe(0)
  })

  it('200 for the feedback that a filter selects', async () => {
    const project = await seeded()
    const cases: [Fields, number | undefined][] = [
      [{ feedback_types: ['wandb.runnable.'] }, 2],
      [{ scorer_ids: ['weave:///a/b/object/a:v1'] }, 1],
      [{ scorer_ids: ['weave:///a/b/object/a:*', 'x'] }, 2],
      [{ monitor_ids: ['weave:///a/b/object/monitor:v2'] }, 1],
      [{ span_agent_names: ['bot', 'x'] }, 1],
      [{ span_types: ['agent_turn'] }, 1],
      [{ span_types: ['agent_turn', 'agent_conversation'] }, 2],
      [{ tags: ['long', 'x'] }, 1],
      [{ rating_min: 0.5 }, 1],
      [{ rating_max: 0.25 }, 1],
      [{ rating_min: 0.26, rating_max: 0.4 }, undefined],
      [{ tags: [], scorer_ids: null, group_by: [] }, 3],
    ]
    for (const [fields, count] of cases)
      expect(await total(project, fields), JSON.stringify(fields)).toBe(count)
  })

  it('400 for a range that ends before it starts and for too many tags, 422 for invalid groups and times', async () => {
    const send = async (fields: Fields) =>
      (await server.post('/feedback/aggregate', { project_id: server.newProject(), ...ranged(), ...fields }))
        .status
    expect(await send({ before_ms: 0 })).toBe(400)
    expect(await send({ tags: Array.from({ length: 1001 }, String) })).toBe(400)
    for (const bad of [{ after_ms: 'now' }, { group_by: ['payload'] }, { time_bucket_seconds: 0 }])
      expect(await send(bad)).toBe(422)
  })
})
