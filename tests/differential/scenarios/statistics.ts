import { idOf, scenario } from '../scenario.ts'
import { finishedCall, startedCall } from './call-parts.ts'
import { compare } from './expressions.ts'

const METRICS = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count']

/** Tokens, costs and times of calls, by call and by time. */
export const usage = scenario('usage', (project, ask) => {
  const id = (name: string) => idOf(`${project} ${name}`)
  const call = (
    name: string,
    started_at: string,
    ended_at: string,
    tokens: object,
    fields: Record<string, unknown> = {},
  ) => finishedCall(project, name, { started_at, ended_at, summary: { usage: tokens }, ...fields })
  const trace_id = idOf(`${project} trace of root`)
  const batch = [
    call('root', '2024-01-01T00:00:00Z', '2024-01-01T00:00:01.5Z', {
      'gpt-4': { requests: 1, prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
    call(
      'child',
      '2024-01-01T00:10:00Z',
      '2024-01-01T00:10:00.25Z',
      { 'gpt-4': { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2 }, zero: { requests: 0 } },
      { trace_id, parent_id: id('root'), exception: 'boom' },
    ),
    call(
      'grandchild',
      '2024-01-01T01:30:00.5Z',
      '2024-01-01T01:31:00Z',
      {
        own: {
          requests: 2,
          input_tokens: 100,
          output_tokens: 50,
          total_tokens: 150,
          cache_creation_input_tokens: 4,
        },
      },
      { trace_id, parent_id: id('child') },
    ),
    call('other', '2024-01-01T02:00:00Z', '2024-01-01T02:00:00.1Z', { 'gpt-4': { prompt_tokens: 1 } }),
    call('idle', '2024-01-01T02:30:00Z', '2024-01-01T02:30:00.5Z', {}),
  ]
  const open = startedCall(project, 'open', {
    trace_id,
    parent_id: id('root'),
    started_at: '2024-01-01T00:20:00Z',
  })
  const trace = (title: string, fields: object) => ask(`trace: ${title}`, '/trace/usage', fields)
  const calls = (title: string, names: string[], fields: Record<string, unknown> = {}) =>
    ask(`calls: ${title}`, '/calls/usage', { call_ids: names.map(id), ...fields })
  const window = { start: '2024-01-01T00:00:00Z', end: '2024-01-01T03:00:00Z' }
  const stats = (title: string, fields: object) =>
    ask(`stats: ${title}`, '/calls/stats', { ...window, ...fields })
  const tokens = METRICS.map((metric) => ({ metric, aggregations: AGGREGATIONS, percentiles: [50, 95] }))
  const latency = [{ metric: 'latency_ms', aggregations: AGGREGATIONS, percentiles: [50, 99] }]
  const counts = [{ metric: 'call_count' }, { metric: 'error_count' }]
  return [
    ask('writes', `/v2/${project}/calls/complete`, { batch }),
    trace('all', {}),
    trace('costs', { include_costs: true }),
    calls('before one opens', ['root']),
    stats('latency of finished calls', { call_metrics: latency }),
    ask('opens', `/v2/${project}/call/start`, { start: open }),
    trace('all with an open one', {}),
    trace('one trace', { filter: { trace_ids: [trace_id] } }),
    trace('some calls', { filter: { call_ids: [id('root'), id('grandchild')] } }),
    trace('some ops', { filter: { op_names: ['other'] } }),
    trace('a query', { query: compare('$eq', 'op_name', 'child') }),
    trace('two calls', { limit: 2 }),
    trace('none', { filter: { op_names: ['nope'] } }),
    trace('an unknown project', { project_id: 'differential/nobody' }),
    calls('a root', ['root']),
    calls('several', ['child', 'grandchild', 'other']),
    calls('none', []),
    calls('an unknown one', ['nope']),
    calls('a known and an unknown one', ['root', 'nope']),
    calls('costs', ['root', 'other'], { include_costs: true }),
    stats('tokens', { usage_metrics: tokens }),
    stats('tokens by half hours', { usage_metrics: tokens, granularity: 1800 }),
    stats('default aggregation', { usage_metrics: [{ metric: 'input_tokens' }] }),
    stats('costs', {
      usage_metrics: [{ metric: 'input_cost' }, { metric: 'output_cost' }, { metric: 'total_cost' }],
    }),
    stats('latency', { call_metrics: latency }),
    stats('counts', { call_metrics: counts }),
    stats('all', { usage_metrics: tokens, call_metrics: [...latency, ...counts], granularity: 3600 }),
    stats('nothing', {}),
    stats('odd buckets', { call_metrics: counts, start: '2024-01-01T00:07:00Z', granularity: 700 }),
    stats('in India', { call_metrics: counts, timezone: 'Asia/Kolkata', granularity: 3600 }),
    stats('in New York by days', {
      call_metrics: counts,
      timezone: 'America/New_York',
      granularity: 86400,
      end: '2024-01-04T00:00:00Z',
    }),
    ...[10800, 40000, 200_000, 900_000, 2_000_000].map((seconds) =>
      stats(`over ${seconds} s`, {
        call_metrics: counts,
        end: new Date(Date.UTC(2024, 0, 1) + seconds * 1000).toISOString(),
      }),
    ),
    stats('roots', { call_metrics: counts, filter: { trace_roots_only: true } }),
    stats('an op', { call_metrics: counts, filter: { op_names: ['other'] } }),
    stats('any version of an op', { call_metrics: counts, filter: { op_names: ['other:*'] } }),
    stats('a trace', { call_metrics: counts, filter: { trace_ids: [trace_id] } }),
    stats('children', { call_metrics: counts, filter: { parent_ids: [id('root')] } }),
    stats('a user', { call_metrics: counts, filter: { wb_user_ids: ['local'] } }),
    stats('an end before the start', { call_metrics: counts, start: '2024-01-01T04:00:00Z' }),
    stats('an end at the start', { call_metrics: counts, end: window.start }),
    stats('two months', { call_metrics: counts, end: '2024-03-01T00:00:00Z' }),
    stats('too fine', { call_metrics: counts, granularity: 1, end: '2024-01-20T00:00:00Z' }),
    stats('granularity 0', { call_metrics: counts, granularity: 0 }),
    stats('percentile 101', { call_metrics: [{ metric: 'latency_ms', percentiles: [101] }] }),
    stats('percentile 99.9', { call_metrics: [{ metric: 'latency_ms', percentiles: [99.9] }] }),
    stats('an unknown metric', { call_metrics: [{ metric: 'colour' }] }),
    stats('an unknown aggregation', { call_metrics: [{ metric: 'latency_ms', aggregations: ['mode'] }] }),
    stats('an unknown zone', { call_metrics: counts, timezone: 'Nope/X' }),
    stats('a start that is none', { call_metrics: counts, start: 'yesterday' }),
    stats('no start', { call_metrics: counts, start: undefined }),
    stats('an unknown project', { call_metrics: counts, project_id: 'differential/nobody' }),
  ]
})

/**
 * Numbers of payloads by time; the window is around now, because feedback has no other time. It ends at a whole second:
 * the reference drops fractions, and with them a bucket that begins in the last second.
 */
export const feedbackStats = scenario('feedback stats', (project, ask) => {
  const now = Math.floor(Date.now() / 1000) * 1000
  const hours = (count: number) => new Date(now + count * 3_600_000).toISOString()
  const op = {
    runnable_ref: `weave:///${project}/op/judge:v0`,
    call_ref: `weave:///${project}/call/${idOf('judging')}`,
  }
  const say = (title: string, feedback_type: string, payload: object, fields: Record<string, unknown> = {}) =>
    ask(title, '/feedback/create', {
      id: idOf(`${project} ${title}`),
      weave_ref: `weave:///${project}/call/${idOf(title)}`,
      feedback_type,
      payload,
      ...fields,
    })
  const monitor = (version: string) => ({ ...op, trigger_ref: `weave:///${project}/object/mon:${version}` })
  const window = { start: hours(-1), end: hours(1) }
  // Buckets of a day, because the two servers do not get the feedback at the same moment.
  const stats = (title: string, fields: object) =>
    ask(`stats: ${title}`, '/feedback/stats', { ...window, granularity: 86_400, ...fields })
  const paths = (title: string, fields: object) =>
    ask(`paths: ${title}`, '/feedback/payload_schema', { ...window, ...fields })
  const metric = (json_path: string, fields: Record<string, unknown> = {}) => ({
    metrics: [{ json_path, ...fields }],
  })
  return [
    say(
      'half',
      'wandb.runnable.judge',
      { output: { s: 0.5, ok: true, note: 'x', tags: ['a'], n: null } },
      monitor('v1'),
    ),
    say(
      'one',
      'wandb.runnable.judge',
      { output: { s: 1, ok: false, note: 'y' }, 'Low quality': true },
      monitor('v2'),
    ),
    say('two', 'wandb.runnable.judge', { output: { s: 2, ok: true, note: 'x' } }, op),
    say('own', 'score', { value: { of: 7 } }),
    stats('nothing', {}),
    stats('numbers', metric('output.s')),
    stats(
      'numbers in detail',
      metric('output.s', { aggregations: ['sum', 'count', 'avg', 'min', 'max'], percentiles: [50, 95] }),
    ),
    stats('truth', metric('output.ok', { value_type: 'boolean' })),
    stats('kinds', metric('output.note', { value_type: 'categorical' })),
    stats('own', { ...metric('value.of'), feedback_type: 'score' }),
    stats('of a trigger', { ...metric('output.s'), trigger_ref: `weave:///${project}/object/mon:v1` }),
    stats('of any version of a trigger', {
      ...metric('output.s'),
      trigger_ref: `weave:///${project}/object/mon:*`,
    }),
    stats('of an unknown type', { ...metric('output.s'), feedback_type: 'nope', granularity: null }),
    stats('a path with a space', { ...metric('Low quality', { value_type: 'boolean' }) }),
    stats('a path with a quote', metric("a'b")),
    stats('an empty path', metric('')),
    stats('a path that is not there', metric('nope.nope')),
    stats('two metrics', {
      metrics: [{ json_path: 'output.s' }, { json_path: 'output.ok', value_type: 'boolean' }],
    }),
    stats('an aggregation of another kind', metric('output.s', { aggregations: ['count_true'] })),
    stats('too long', { ...metric('output.s'), start: '2020-01-01T00:00:00Z' }),
    stats('backwards', { ...metric('output.s'), start: hours(2) }),
    stats('in another zone', { ...metric('output.s'), timezone: 'Asia/Kolkata' }),
    paths('all', {}),
    paths('of a type', { feedback_type: 'score' }),
    paths('of a trigger', { trigger_ref: `weave:///${project}/object/mon:v2` }),
    paths('of none', { sample_limit: 0 }),
    paths('of one', { sample_limit: 1, feedback_type: 'score' }),
    paths('of too many', { sample_limit: 5001 }),
    paths('of another time', { start: '2020-01-01T00:00:00Z', end: '2020-01-02T00:00:00Z' }),
  ]
})
