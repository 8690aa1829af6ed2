import { fieldOf, idOf, type Later, refTo, scenario } from '../scenario.ts'
import { finishedCall } from './call-parts.ts'
import { compare, convert, expression, field, literal } from './expressions.ts'

/** What calls refer to: values in their place, and questions about those values. */
export const expandedCalls = scenario('expanded calls', (project, ask) => {
  const create = (title: string, object_id: string, val: unknown) =>
    ask(title, '/obj/create', { project_id: undefined, obj: { project_id: project, object_id, val } })
  const two = refTo(project, 'model', 'two')
  const row: Later = (said) => {
    const digests = said('table')['row_digests'] as string[] // Tables answer with a list of texts.
    return `weave:///${project}/object/data:${said('dataset')['digest']}/attr/rows/id/${digests[0]}`
  }
  const call = (name: string, second: number, inputs: object, output: unknown = null) =>
    finishedCall(project, name, { started_at: `2024-01-01T00:00:0${second}Z`, inputs, output })
  const expand_columns = ['inputs.model', 'inputs.model.config', 'inputs.example', 'output', 'inputs.plain']
  const query = (title: string, fields: object) =>
    ask(title, '/calls/stream_query', { expand_columns, ...fields })
  const where = (operation: Record<string, unknown>, title = JSON.stringify(operation)) =>
    query(`where ${title}`, { query: operation, return_expanded_column_values: false })
  return [
    create('config', 'config', { temperature: 0.5, name: 'warm' }),
    create('one', 'model', { size: 1, list: [{ deep: 'x' }] }),
    create('two', 'model', { size: 10, config: { temperature: 0.1, name: 'cold' } }),
    create('three', 'model', { size: 9, config: refTo(project, 'config', 'config') }),
    create('plain', 'plain', 'text'),
    ask('table', '/table/create', {
      project_id: undefined,
      table: { project_id: project, rows: [{ q: 'why' }, { q: 'how' }] },
    }),
    create('dataset', 'data', {
      rows: fieldOf('table', 'digest', (digest) => `weave:///${project}/table/${digest}`),
    }),
    ask('calls', `/v2/${project}/calls/complete`, {
      batch: [
        call(
          'one',
          0,
          { model: refTo(project, 'model', 'one'), example: row, plain: refTo(project, 'plain', 'plain') },
          refTo(project, 'config', 'config'),
        ),
        call('two', 1, { model: two }),
        call('three', 2, { model: refTo(project, 'model', 'three') }),
        call('raw', 3, { model: { size: 5, config: { temperature: 0.3 } } }),
        call('part', 4, { model: refTo(project, 'model', 'two', '/attr/config') }),
        call('call', 5, { model: `weave:///${project}/call/${idOf('x')}` }),
        call('other', 7, { model: 'no ref' }),
      ],
    }),
    query('expanded', {}),
    query('not returned', { return_expanded_column_values: false }),
    query('columns that are not there', { expand_columns: ['x.y', 'inputs.zz', 'inputs.model.size'] }),
    query('no columns', { expand_columns: [] }),
    query('expanded and chosen', { columns: ['inputs.model'] }),
    where(compare('$eq', 'inputs.model.config.name', 'cold')),
    where(compare('$eq', 'inputs.model.config.name', 'warm')),
    where(compare('$eq', 'output.name', 'warm')),
    where(compare('$eq', 'inputs.example.q', 'why')),
    where(compare('$eq', 'inputs.plain', 'text')),
    where(compare('$eq', 'inputs.model', two), 'a ref'),
    where(expression({ $gt: [convert('inputs.model.size', 'double'), literal(4)] })),
    where(
      expression({
        $contains: { input: field('output.name'), substr: literal('AR'), case_insensitive: true },
      }),
    ),
    where(expression({ $in: [field('inputs.model.config.name'), [literal('cold'), literal('x')]] })),
    ...['asc', 'desc'].map((direction) =>
      query(`sorted ${direction}`, {
        sort_by: [{ field: 'inputs.model.size', direction }],
        return_expanded_column_values: false,
      }),
    ),
    ask('counted', '/calls/query_stats', { expand_columns, query: compare('$eq', 'output.name', 'warm') }),
    ask('a call whose ref leads nowhere', `/v2/${project}/calls/complete`, {
      batch: [call('gone', 6, { model: `weave:///${project}/object/model:${'x'.repeat(43)}` })],
    }),
    query('expanded with one that leads nowhere', {}),
  ]
})

/** Calls by what was said about them. */
export const callsByFeedback = scenario('calls by feedback', (project, ask) => {
  const call = (name: string, second: number) =>
    finishedCall(project, name, { started_at: `2024-01-01T00:00:0${second}Z` })
  const say = (
    title: string,
    name: string,
    feedback_type: string,
    payload: object,
    fields: Record<string, unknown> = {},
  ) =>
    ask(title, '/feedback/create', {
      id: idOf(`${project} ${title}`),
      weave_ref: `weave:///${project}/call/${idOf(`${project} ${name}`)}`,
      feedback_type,
      payload,
      ...fields,
    })
  const op = `weave:///${project}/op/judge:v0`
  const run = { runnable_ref: op, call_ref: `weave:///${project}/call/${idOf('judging')}` }
  const note = 'feedback.[wandb.note.1].payload.note'
  const score = 'feedback.[score].payload.value.of'
  const query = (title: string, fields: object) => ask(title, '/calls/stream_query', fields)
  const where = (operation: Record<string, unknown>) =>
    query(`where ${JSON.stringify(operation)}`, { query: operation })
  return [
    ask('calls', `/v2/${project}/calls/complete`, { batch: ['a', 'b', 'c', 'd', 'e'].map(call) }),
    say('first', 'a', 'wandb.note.1', { note: 'first' }),
    say('second', 'a', 'wandb.note.1', { note: 'second' }),
    say('third', 'b', 'wandb.note.1', { note: 'third' }),
    say('seven', 'a', 'score', { value: { of: 7 } }),
    say('ten', 'b', 'score', { value: { of: 10 } }),
    say('no value', 'c', 'score', { other: 1 }),
    say(
      'judged well',
      'd',
      'wandb.runnable.judge',
      { output: { s: 0.5, ok: true } },
      { ...run, trigger_ref: `weave:///${project}/object/mon:v1` },
    ),
    say('judged badly', 'e', 'wandb.runnable.judge', { output: { s: 1, ok: false } }, run),
    ...['first', 'second', 'third', 'nope', null].map((value) => where(compare('$eq', note, value))),
    where(expression({ $in: [field(note), [literal('second'), literal('third')]] })),
    where(expression({ $contains: { input: field(note), substr: literal('IR'), case_insensitive: true } })),
    where(expression({ $not: [compare('$eq', note, 'first').$expr] })),
    where(compare('$eq', 'feedback.[*].payload.note', 'third')),
    where(compare('$eq', 'feedback.[wandb.runnable.judge].runnable_ref', op)),
    where(compare('$eq', 'feedback.[wandb.runnable.judge].trigger_ref', `weave:///${project}/object/mon:v1`)),
    where(expression({ $gt: [convert(score, 'double'), literal(8)] })),
    where(expression({ $eq: [convert(score, 'exists'), literal(true)] })),
    where(
      expression({
        $eq: [convert('feedback.[wandb.runnable.judge].payload.output.ok', 'string'), literal('true')],
      }),
    ),
    where(compare('$eq', 'feedback.[x].creator', 'a')),
    where(compare('$eq', 'feedback.x', 'a')),
    ...[score, note, 'feedback.[wandb.runnable.judge].payload.output.s'].flatMap((name) =>
      ['asc', 'desc'].map((direction) =>
        query(`sorted by ${name} ${direction}`, { sort_by: [{ field: name, direction }] }),
      ),
    ),
    ask('counted', '/calls/query_stats', { query: compare('$eq', note, 'third') }),
    query('with feedback', { include_feedback: true, filter: { op_names: ['b', 'd'] } }),
    ask('one with feedback', '/call/read', { id: idOf(`${project} b`), include_feedback: true }),
    query('none with feedback', { include_feedback: true, filter: { op_names: ['nope'] } }),
  ]
})
