import { fieldOf, idOf, type Request, scenario } from '../scenario.ts'
import { endedCall, finishedCall, startedCall } from './call-parts.ts'

/** Starts, ends and whole calls, in any order, more than once, and what refuses them. */
export const callWriting = scenario('call writing', (project, ask) => {
  const id = (name: string) => idOf(`${project} ${name}`)
  const start = (title: string, name: string, fields: object = {}) =>
    ask(title, '/call/start', { project_id: undefined, start: { ...startedCall(project, name), ...fields } })
  const end = (title: string, name: string, fields: object = {}) =>
    ask(title, '/call/end', { project_id: undefined, end: { ...endedCall(project, name), ...fields } })
  const read = (title: string, name: string) => ask(title, '/call/read', { id: id(name) })
  return [
    start('starts', 'plain', { inputs: { a: 1, b: 1.0, c: [true, null, 'x'], 'k.k': { '': 0 } } }),
    read('reads a running one', 'plain'),
    end('ends', 'plain', {
      output: { r: 1.5 },
      summary: { usage: { m: { requests: 1, prompt_tokens: 3 } }, own: 'x' },
    }),
    read('reads a finished one', 'plain'),
    end('ends before the start', 'backwards'),
    read('reads an end without a start', 'backwards'),
    ask('an end without a start is not listed', '/calls/stream_query', {
      filter: { call_ids: [id('backwards')] },
    }),
    start('starts after the end', 'backwards'),
    read('reads what came backwards', 'backwards'),
    start('starts twice, first', 'twice', { inputs: { n: 1 } }),
    start('starts twice, again', 'twice', { inputs: { n: 1 } }),
    end('ends twice, first', 'twice'),
    end('ends twice, again', 'twice'),
    read('reads what came twice', 'twice'),
    ask('counts what came twice', '/calls/query_stats', { filter: { call_ids: [id('twice')] } }),
    start('starts with every field', 'full', {
      display_name: 'Shown',
      parent_id: id('plain'),
      thread_id: 'thread',
      turn_id: id('full'),
      wb_run_id: `${project}/run`,
      wb_run_step: 7,
      wb_user_id: 'someone else',
      otel_dump: { name: 'span' },
    }),
    end('ends with an exception', 'full', { exception: 'E: no', wb_run_step_end: 8, output: null }),
    read('reads every field', 'full'),
    start('starts with times of other zones', 'zones', { started_at: '2024-06-01T12:00:00.123456+02:00' }),
    end('ends with a naive time', 'zones', { ended_at: '2024-06-01T10:00:01.5' }),
    read('reads times of other zones', 'zones'),
    start('starts with nanoseconds', 'nanos', { started_at: '2024-06-01T12:00:00.123456789Z' }),
    read('reads nanoseconds', 'nanos'),
    start('starts before 1970', 'old', { started_at: '1969-12-31T23:59:59Z' }),
    start('starts without ids', 'x', { id: undefined, trace_id: undefined }),
    ask('reads one without ids', '/call/read', { id: fieldOf('starts without ids', 'id') }),
    start('starts with a span id', 'span', {
      id: '00f067aa0ba902b7',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    }),
    ask('reads by a span id', '/call/read', { id: '00f067aa0ba902b7' }),
    ...mistakes(start, end),
    ask('renames', '/call/update', { call_id: id('plain'), display_name: 'Renamed' }),
    read('reads a renamed one', 'plain'),
    ask('renames again', '/call/update', { call_id: id('plain'), display_name: 'Once more' }),
    read('reads one renamed again', 'plain'),
    ask('takes the name away', '/call/update', { call_id: id('plain'), display_name: '' }),
    read('reads one without a name', 'plain'),
    ask('renames to null', '/call/update', { call_id: id('plain'), display_name: null }),
    ask('renames to nothing', '/call/update', { call_id: id('plain') }),
    ask('renames to a long name', '/call/update', { call_id: id('plain'), display_name: 'x'.repeat(1025) }),
    ask('renames an unknown call', '/call/update', { call_id: id('nope'), display_name: 'x' }),
    start('starts a child', 'child', { parent_id: id('twice'), trace_id: idOf(`${project} trace of twice`) }),
    start('starts a grandchild', 'grandchild', {
      parent_id: id('child'),
      trace_id: idOf(`${project} trace of twice`),
    }),
    ask('deletes with descendants', '/calls/delete', { call_ids: [id('twice')] }),
    ask('the deleted are gone', '/calls/stream_query', {}),
    read('reads a deleted one', 'grandchild'),
    end('ends a deleted one', 'grandchild'),
    read('reads a deleted one that ended', 'grandchild'),
    ask('deletes nothing', '/calls/delete', { call_ids: [] }),
    ask('deletes an unknown call', '/calls/delete', { call_ids: [id('nope')] }),
    ask('deletes twice', '/calls/delete', { call_ids: [id('twice')] }),
    ask('deletes too many', '/calls/delete', {
      call_ids: Array.from({ length: 1001 }, (_, n) => idOf(String(n))),
    }),
    ask('deletes without ids', '/calls/delete'),
  ]
})

type Part = (title: string, name: string, fields?: object) => Request

function mistakes(start: Part, end: Part): Request[] {
  return [
    start('an id that is none', 'x', { id: 'nope' }),
    start('an id in upper case', 'x', { id: idOf('x').toUpperCase() }),
    start('an id without dashes', 'x', { id: idOf('x').replaceAll('-', '') }),
    start('a trace id that is none', 'x', { trace_id: 'nope' }),
    start('a parent id that is none', 'x', { parent_id: 'nope' }),
    start('an id without a trace id', 'x', { trace_id: undefined }),
    start('a trace id without an id', 'y', { id: undefined }),
    start('no op name', 'x', { op_name: undefined }),
    start('an empty op name', 'x', { op_name: '' }),
    start('a long op name', 'x', { op_name: 'x'.repeat(129) }),
    start('an op ref as a name', 'op-ref', { op_name: 'weave:///differential/call-writing/op/name:abc' }),
    start('an object ref as an op name', 'x', {
      op_name: 'weave:///differential/call-writing/object/name:abc',
    }),
    start('a long display name', 'x', { display_name: 'x'.repeat(1025) }),
    start('no start time', 'x', { started_at: undefined }),
    start('a start time that is none', 'x', { started_at: 'yesterday' }),
    start('a start time that is a number', 'seconds', { started_at: 1704067200.25 }),
    start('inputs of null', 'x', { inputs: null }),
    start('inputs that are a list', 'x', { inputs: [] }),
    start('no attributes', 'x', { attributes: undefined }),
    start('a negative run step', 'x', { wb_run_step: -1 }),
    start('a run id without a project', 'x', { wb_run_id: 'run' }),
    start('a malformed ref', 'x', { inputs: { r: 'weave:///nowhere' } }),
    start('a private ref', 'x', { inputs: { r: 'weave-trace-internal:///someone/object/o:abc' } }),
    start('a project without an entity', 'x', { project_id: 'nobody' }),
    end('an end with an id that is none', 'x', { id: 'nope' }),
    end('an end without a time', 'x', { ended_at: undefined }),
    end('an end without a summary', 'x', { summary: undefined }),
    end('an end before its start', 'nanos', { ended_at: '2020-01-01T00:00:00Z' }),
  ]
}

/** The same through the routes of newer clients. */
export const callWritingV2 = scenario('call writing v2', (project, ask) => {
  const id = (name: string) => idOf(`${project} ${name}`)
  const complete = (title: string, ...batch: object[]) =>
    ask(title, `/v2/${project}/calls/complete`, { batch })
  const one = (name: string, fields: Record<string, unknown> = {}) => finishedCall(project, name, fields)
  const read = (title: string, name: string) => ask(title, '/call/read', { id: id(name) })
  return [
    complete('writes none'),
    complete(
      'writes one',
      one('one', {
        inputs: { a: 1.0, big: 12345678901234567890n.toString(), u: 'é😀\u0007' },
        output: [1, 2],
      }),
    ),
    read('reads one', 'one'),
    complete(
      'writes one again',
      one('one', {
        inputs: { a: 1.0, big: 12345678901234567890n.toString(), u: 'é😀\u0007' },
        output: [1, 2],
      }),
    ),
    ask('counts one', '/calls/query_stats', {}),
    complete(
      'writes several',
      one('a', { exception: 'no' }),
      one('b', { display_name: 'B' }),
      one('c', { parent_id: id('a') }),
    ),
    ask('lists several', '/calls/stream_query', { sort_by: [{ field: 'op_name', direction: 'asc' }] }),
    complete('the same one twice in a batch', one('same'), one('same')),
    ask('counts the same one', '/calls/query_stats', { filter: { call_ids: [id('same')] } }),
    complete('one bad among good', one('good'), one('bad', { id: 'nope' })),
    read('reads the good one', 'good'),
    complete('one without an end', one('endless', { ended_at: undefined })),
    complete('one without an output', one('mute', { output: undefined })),
    complete('one without a summary', one('plain', { summary: undefined })),
    complete('a project that is not the path’s', one('elsewhere', { project_id: 'differential/elsewhere' })),
    read('reads what named another project', 'elsewhere'),
    ask('starts', `/v2/${project}/call/start`, {
      start: startedCall(project, 'started', { inputs: { q: 1 } }),
    }),
    read('reads a started one', 'started'),
    ask('ends', `/v2/${project}/call/end`, {
      end: {
        ...endedCall(project, 'started'),
        started_at: '2024-01-01T00:00:00Z',
        trace_id: idOf(`${project} trace of started`),
      },
    }),
    read('reads an ended one', 'started'),
    ask('renames', '/call/update', { call_id: id('one'), display_name: 'One' }),
    read('reads a renamed one', 'one'),
    ask('deletes', '/calls/delete', { call_ids: [id('a')] }),
    ask('what is left', '/calls/stream_query', { sort_by: [{ field: 'op_name', direction: 'asc' }] }),
    ask('a batch of null', `/v2/${project}/calls/complete`, { batch: null }),
    ask('no batch', `/v2/${project}/calls/complete`, {}),
  ]
})

/** Batches of starts and ends, as clients without the newer routes send them; and the store that is looser. */
export const callBatches = scenario(
  'call batches',
  (project, ask) => {
    const id = (name: string) => idOf(`${project} ${name}`)
    const batch = (title: string, ...items: object[]) =>
      ask(title, '/call/upsert_batch', { project_id: undefined, batch: items })
    const start = (name: string, fields: Record<string, unknown> = {}) => ({
      mode: 'start',
      req: { start: startedCall(project, name, fields) },
    })
    const end = (name: string, fields: Record<string, unknown> = {}) => ({
      mode: 'end',
      req: { end: endedCall(project, name, fields) },
    })
    return [
      batch('none'),
      batch('a start and an end', start('a', { inputs: { n: 1 } }), end('a', { output: 'out' })),
      batch(
        'starts',
        start('b'),
        start('c', { parent_id: id('b'), trace_id: idOf(`${project} trace of b`) }),
      ),
      batch('an end', end('b', { exception: 'no' })),
      batch('a mode that is none', { mode: 'stop', req: {} }),
      batch('a start without its call', { mode: 'start', req: {} }),
      ask('lists them', '/calls/stream_query', { sort_by: [{ field: 'op_name', direction: 'asc' }] }),
      ...['a', 'b', 'c'].map((name) => ask(`reads ${name}`, '/call/read', { id: id(name) })),
      ask('renames', '/call/update', { call_id: id('a'), display_name: 'A' }),
      ask('reads the renamed', '/call/read', { id: id('a') }),
      ask('deletes', '/calls/delete', { call_ids: [id('b')] }),
      ask('lists what is left', '/calls/stream_query', { sort_by: [{ field: 'op_name', direction: 'asc' }] }),
      ask('counts what is left', '/calls/query_stats', {}),
    ]
  },
  'sqlite',
)
