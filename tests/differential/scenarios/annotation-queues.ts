import { fieldOf, idOf, type Request, type Said, scenario } from '../scenario.ts'
import { finishedCall } from './call-parts.ts'
import { compare, expression, field, literal } from './expressions.ts'

const NAMES = ['a', 'b', 'c', 'd']

/** Queues of calls: their fields, their items, and how far people are with them. */
export const annotationQueues = scenario('annotation queues', (project, ask) => {
  const callIds = (...names: string[]) => names.map((name) => idOf(`${project} ${name}`))
  const create = (title: string, fields: object) =>
    ask(title, '/annotation_queues', { scorer_refs: [], ...fields })
  const query = (title: string, fields: object = {}) =>
    ask(`queues ${title}`, '/annotation_queues/query', fields)
  const at =
    (queue: string, rest = '') =>
    (said: Said) =>
      `/annotation_queues/${said(queue)['id'] ?? queue}${rest}`
  const named = `?project_id=${encodeURIComponent(project)}`
  const read = (title: string, queue = 'creates'): Request => ({
    title: `reads ${title}`,
    method: 'GET',
    path: at(queue, named),
  })
  const remove = (title: string, queue: string): Request => ({
    title: `deletes ${title}`,
    method: 'DELETE',
    path: at(queue, named),
  })
  const update = (title: string, fields: object, queue = 'creates') =>
    ask(`updates ${title}`, at(queue), fields, 'PUT')
  const add = (title: string, ids: readonly string[], queue = 'creates', fields: object = {}) =>
    ask(`adds ${title}`, at(queue, '/items'), {
      call_ids: ids,
      display_fields: ['inputs.x', 'output'],
      ...fields,
    })
  const byStart = [{ field: 'call_started_at', direction: 'asc' }]
  const items = (title: string, fields: object = {}, queue = 'creates') =>
    ask(`items ${title}`, at(queue, '/items/query'), { sort_by: byStart, ...fields })
  const statistics = (title: string, ...queues: string[]) =>
    ask(`statistics ${title}`, '/annotation_queues/stats', {
      queue_ids: queues.map((queue) => fieldOf(queue, 'id')),
    })
  const progress = (title: string, call: string, annotation_state: unknown) =>
    ask(`progress ${title}`, (said: Said) => at('creates', `/items/${itemOf(said, call)}/progress`)(said), {
      annotation_state,
    })
  const queued = (title: string, query: object) => ask(`calls ${title}`, '/calls/stream_query', { query })
  const inQueue = (queue: string) => ({
    $eq: [field('annotation_queue_items.queue_id'), literal(fieldOf(queue, 'id'))],
  })
  const feedback = (title: string, queue_id: unknown) =>
    ask(`feedback ${title}`, '/feedback/create', {
      id: idOf(`${project} ${title}`),
      weave_ref: `weave:///${project}/call/${idOf(`${project} a`)}`,
      feedback_type: 'wandb.note.1',
      payload: { note: 'good' },
      queue_id,
    })

  /** The item of a call in the queue, from the items that were listed. */
  function itemOf(said: Said, call: string): unknown {
    const listed = said('items of the queue')['items'] as { id: string; call_id: string }[] // As the title says.
    return listed.find(({ call_id }) => call_id === idOf(`${project} ${call}`))?.id ?? call
  }

  return [
    ask('calls', `/v2/${project}/calls/complete`, {
      batch: NAMES.map((name, index) =>
        finishedCall(project, name, {
          started_at: `2024-01-01T00:00:0${index}Z`,
          op_name: `op ${index % 2}`,
        }),
      ),
    }),
    query('before any'),
    create('creates', {
      name: 'First – ü',
      description: 'why?',
      scorer_refs: [`weave:///${project}/object/s:x`],
    }),
    create('creates a second', { name: 'second' }),
    create('creates one without a name', { name: '' }),
    create('creates without a list', { name: 'x', scorer_refs: undefined }),
    create('creates with null', { name: null }),
    create('creates with a number', { name: 'x', description: 1 }),
    ...['', 'FIRST', 'ü', 'con', 'nope'].map((name) => query(`named "${name}"`, { name })),
    ...['name', 'id', 'created_at', 'updated_at', 'nope'].flatMap((name) =>
      ['asc', 'desc'].map((direction) =>
        query(`by ${name} ${direction}`, { sort_by: [{ field: name, direction }] }),
      ),
    ),
    query('by name, a page', { sort_by: [{ field: 'name', direction: 'asc' }], limit: 1, offset: 1 }),
    query('none', { limit: 0 }),
    query('limit -1', { limit: -1 }),
    query('offset -1', { offset: -1 }),
    query('by an order that is none', { sort_by: [{ field: 'name', direction: 'up' }] }),
    read('it'),
    read('an unknown one', 'calls'),
    update('its name', { name: 'Renamed' }),
    update('nothing', {}),
    update('all', { name: 'First', description: '', scorer_refs: [] }),
    update('with a number', { name: 1 }),
    update('an unknown one', { name: 'x' }, 'calls'),
    read('it after updates'),
    items('of an empty queue'),
    add('two', callIds('a', 'b')),
    add('the same', callIds('a', 'b')),
    add('one new', callIds('a', 'c', 'nope')),
    add('one twice', callIds('d', 'd')),
    add('one that is there twice', callIds('d', 'd')),
    add('none', []),
    add('only unknown ones', [idOf('nope'), 'nope']),
    add('without fields', callIds('a'), 'creates', { display_fields: undefined }),
    add('to an unknown queue', callIds('a'), 'calls'),
    add('to the second', callIds('a'), 'creates a second'),
    items('of the queue'),
    items('of an unknown queue', {}, 'calls'),
    statistics('of all', 'creates', 'creates a second', 'creates one without a name'),
    statistics('of none'),
    ask('statistics of an unknown one', '/annotation_queues/stats', { queue_ids: [idOf('nope')] }),
    progress('a in progress', 'a', 'in_progress'),
    progress('a in progress again', 'a', 'in_progress'),
    progress('a back', 'a', 'unstarted'),
    progress('a completed', 'a', 'completed'),
    progress('a completed again', 'a', 'completed'),
    progress('a skipped after all', 'a', 'skipped'),
    progress('a in progress after all', 'a', 'in_progress'),
    progress('b skipped', 'b', 'skipped'),
    progress('c in progress', 'c', 'in_progress'),
    progress('d to nothing', 'd', ''),
    progress('d to a number', 'd', 1),
    progress('of an unknown item', 'nope', 'skipped'),
    statistics('after progress', 'creates', 'creates a second'),
    items('after progress'),
    ...[['unstarted'], ['in_progress'], ['completed', 'skipped'], [], ['nope']].map((annotation_states) =>
      items(`in the states ${annotation_states.join(' ')}`, { filter: { annotation_states } }),
    ),
    items('of one call', { filter: { call_id: idOf(`${project} b`) } }),
    items('of one op', { filter: { call_op_name: 'op 1' }, include_position: true }),
    items('of one trace', { filter: { call_trace_id: idOf(`${project} trace of c`) } }),
    items('with positions', { include_position: true }),
    items('with positions in a state', {
      include_position: true,
      filter: { annotation_states: ['unstarted', 'in_progress'] },
    }),
    items('with positions, backwards, a page', {
      include_position: true,
      sort_by: [{ field: 'call_started_at', direction: 'desc' }],
      limit: 2,
      offset: 1,
    }),
    items('by op', {
      sort_by: [
        { field: 'call_op_name', direction: 'desc' },
        { field: 'call_started_at', direction: 'desc' },
      ],
    }),
    items('none', { limit: 0 }),
    items('limit -1', { limit: -1 }),
    queued('of the queue', expression(inQueue('creates'))),
    queued('of the second', expression(inQueue('creates a second'))),
    queued(
      'of both conditions',
      expression({ $and: [inQueue('creates'), compare('$eq', 'op_name', 'op 0').$expr] }),
    ),
    queued('of another field', compare('$eq', 'annotation_queue_items.id', 'x')),
    feedback('from the queue', fieldOf('creates', 'id')),
    feedback('from an unknown queue', idOf('nope')),
    ask('feedback of the queue', '/feedback/query', {
      fields: ['payload', 'queue_id'],
      query: { $expr: { $eq: [field('queue_id'), literal(fieldOf('creates', 'id'))] } },
    }),
    remove('it', 'creates'),
    remove('it again', 'creates'),
    remove('an unknown one', 'calls'),
    read('it after its end'),
    query('after an end'),
    update('it after its end', { name: 'x' }),
    add('after its end', callIds('a')),
    items('after its end'),
    statistics('after its end', 'creates', 'creates a second'),
    feedback('after its end', fieldOf('creates', 'id')),
  ]
})
