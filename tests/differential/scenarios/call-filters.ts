import { idOf, type Scenario, scenario } from '../scenario.ts'
import { compare } from './expressions.ts'
import { type Writing, writeCalls } from './query-calls.ts'

const SORT_FIELDS = [
  'started_at',
  'ended_at',
  'op_name',
  'id',
  'display_name',
  'exception',
  'wb_run_step',
  'thread_id',
  'inputs.x',
  'inputs.s',
  'inputs.missing',
  'output',
  'output.r',
  'attributes.env',
  'summary.weave.status',
  'summary.weave.latency_ms',
  'summary.weave.trace_name',
]

/** Filters, order, paging, columns and counts. */
export function callFilters(writing: Writing): Scenario {
  return scenario(`call filters ${writing}`, (project, ask) => {
    const id = (name: string) => idOf(`${project} ${name}`)
    const query = (title: string, fields: Record<string, unknown>) =>
      ask(title, '/calls/stream_query', fields)
    const count = (title: string, fields: Record<string, unknown>) => ask(title, '/calls/query_stats', fields)
    const sorted = (...keys: [string, string][]) =>
      query(`sorted by ${keys.map((key) => key.join(' ')).join(', ') || 'nothing'}`, {
        sort_by: keys.map(([field, direction]) => ({ field, direction })),
      })
    const filters: Record<string, Record<string, unknown>> = {
      none: {},
      'op name': { op_names: ['root'] },
      'op name with a star': { op_names: ['roo*'] },
      'op name of any version': { op_names: ['root:*'] },
      'op names': { op_names: ['root', 'text'] },
      'no op names': { op_names: [] },
      'unknown op name': { op_names: ['nope'] },
      'roots only': { trace_roots_only: true },
      'not roots only': { trace_roots_only: false },
      parent: { parent_ids: [id('root')] },
      'no parents': { parent_ids: [] },
      trace: { trace_ids: [id('trace of root')] },
      'traces and op name': { trace_ids: [id('trace of root'), id('trace of text')], op_names: ['text'] },
      'no traces': { trace_ids: [] },
      calls: { call_ids: [id('root'), id('text')] },
      'no calls': { call_ids: [] },
      thread: { thread_ids: ['t1'] },
      'no threads': { thread_ids: [] },
      turns: { turn_ids: ['u1', 'u2'] },
      'no turns': { turn_ids: [] },
      'no turns of a trace': { turn_ids: [], trace_ids: [id('trace of root')] },
      'no turns of any root or not': { turn_ids: [], trace_roots_only: false },
      'no turns of no op': { turn_ids: [], op_names: [] },
      user: { wb_user_ids: ['local'] },
      'unknown user': { wb_user_ids: ['someone'] },
      run: { wb_run_ids: [`${project}/run1`] },
      'input ref': { input_refs: [`weave:///${project}/object/o:abc`] },
      'input refs': { input_refs: [`weave:///${project}/object/o:abc`, `weave:///${project}/object/p:abc`] },
      'output ref of any version': { output_refs: [`weave:///${project}/object/o:*`] },
      'unknown ref': { input_refs: [`weave:///${project}/object/o:def`] },
    }
    const columns = [
      ['id'],
      ['inputs'],
      ['inputs.x'],
      ['output'],
      ['summary'],
      ['attributes', 'ended_at'],
      ['exception'],
      ['display_name'],
      ['wb_run_id', 'wb_user_id', 'thread_id', 'turn_id', 'parent_id'],
      ['nope'],
    ]
    return [
      ...writeCalls(project, ask, writing),
      ...Object.entries(filters).map(([title, filter]) => query(`filter: ${title}`, { filter })),
      ...Object.entries(filters).map(([title, filter]) => count(`count: ${title}`, { filter })),
      query('columns by their other names', {
        columns: ['summary_dump', 'inputs_dump', 'output_dump', 'attributes_dump'],
      }),
      query('columns of one other name', {
        columns: ['summary_dump'],
        sort_by: [{ field: 'inputs_dump.x', direction: 'asc' }],
      }),
      query('another name in the order', { sort_by: [{ field: 'inputs_dump', direction: 'asc' }] }),
      query('columns of another name with costs', {
        columns: ['summary_dump', 'started_at'],
        include_costs: true,
      }),
      query('nulls', { filter: null, query: null, sort_by: null, columns: null, limit: null, offset: null }),
      query('a filter with a query', {
        filter: { thread_ids: ['t1'] },
        query: compare('$eq', 'inputs.s', 'ten'),
      }),
      query('too many ids', { filter: { call_ids: Array.from({ length: 1001 }, (_, n) => id(String(n))) } }),
      query('a filter that is a list', { filter: [] }),
      query('an unknown filter', { filter: { colours: ['red'] } }),
      sorted(),
      ...SORT_FIELDS.flatMap((field) => [sorted([field, 'asc']), sorted([field, 'desc'])]),
      sorted(['thread_id', 'desc'], ['started_at', 'desc']),
      sorted(['inputs.s', 'desc'], ['op_name', 'asc']),
      sorted(['nope', 'asc']),
      sorted(['storage_size_bytes', 'asc']),
      sorted(['op_name', 'sideways']),
      ...[0, 1, 3, 100, -1].map((limit) => query(`limit ${limit}`, { limit })),
      ...[0, 2, 100, -1].map((offset) => query(`offset ${offset}`, { offset })),
      query('limit 2 offset 3', { limit: 2, offset: 3 }),
      query('limit of text', { limit: 'many' }),
      query('no columns', { columns: [] }),
      ...columns.map((names) => query(`columns ${names}`, { columns: names })),
      count('counted with a query', { query: compare('$eq', 'inputs.s', 'ten') }),
      ...[1, 3, 100, 0, -1].map((limit) => count(`counted to ${limit}`, { limit })),
      count('counted one of some', { limit: 1, filter: { op_names: ['nope'] } }),
      count('counted with sizes', { include_total_storage_size: true }),
      query('another project', { project_id: 'differential/nobody' }),
      count('counted in another project', { project_id: 'differential/nobody' }),
      query('a project without an entity', { project_id: 'nobody' }),
      query('no project', { project_id: undefined }),
      ...['root', 'child', 'failed', 'open', 'nested'].map((name) =>
        ask(`reads ${name}`, '/call/read', { id: id(name) }),
      ),
      ask('reads an unknown call', '/call/read', { id: id('nope') }),
      ask('reads something', '/call/read', { id: 'nope' }),
      query('sizes', { include_storage_size: true, include_total_storage_size: true }),
      query('sorted by a size that is asked for', {
        include_storage_size: true,
        sort_by: [{ field: 'storage_size_bytes', direction: 'asc' }],
      }),
    ]
  })
}
