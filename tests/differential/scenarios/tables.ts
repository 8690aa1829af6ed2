import { fieldOf, scenario } from '../scenario.ts'

const ROWS = [
  { n: 3, s: 'b', nested: { x: 1 } },
  { n: 10, s: 'a', nested: { x: 2 } },
  { n: '9', s: 'é😀', nested: null },
  { s: 'B', list: [1, 2.5] },
  { n: 3, s: 'b', nested: { x: 1 } },
]

/** Tables, their rows and their updates. */
export const tables = scenario('tables', (project, ask) => {
  const create = (title: string, rows: unknown, fields: object = {}) =>
    ask(title, '/table/create', { project_id: undefined, table: { project_id: project, rows, ...fields } })
  const digest = fieldOf('creates', 'digest')
  const query = (title: string, fields: object) => ask(`rows ${title}`, '/table/query', { digest, ...fields })
  const rowDigest = (index: number) =>
    fieldOf('creates', 'row_digests', (digests) => (digests as string[])[index]) // Tables answer with a list of texts.
  const update = (title: string, ...updates: object[]) =>
    ask(`updates: ${title}`, '/table/update', { base_digest: digest, updates })
  return [
    create('creates', ROWS),
    create('creates again', ROWS),
    create('creates an empty one', []),
    create('creates one of odd values', [{ '': null, é: -0.5, big: 1e21, deep: [[[]]] }]),
    create('creates one with the wrong digest', ROWS, { expected_digest: 'a'.repeat(64) }),
    create('rows that are no objects', [1, 'a']),
    create('rows that are none', null),
    query('all', {}),
    query('of some digests', { filter: { row_digests: [rowDigest(1), rowDigest(2)] } }),
    query('of the same twice', { filter: { row_digests: [rowDigest(0)] } }),
    query('of no digests', { filter: { row_digests: [] } }),
    query('of an unknown digest', { filter: { row_digests: ['nope'] } }),
    ...[0, 1, 2, 100, -1].map((limit) => query(`limit ${limit}`, { limit })),
    ...[0, 2, 100, -1].map((offset) => query(`offset ${offset}`, { offset })),
    query('limit 2 offset 1', { limit: 2, offset: 1 }),
    ...['n', 's', 'nested.x', 'nope', 'list.0', '', '.n', 'n.', 'nested..x'].flatMap((field) =>
      ['asc', 'desc'].map((direction) =>
        query(`by "${field}" ${direction}`, { sort_by: [{ field, direction }] }),
      ),
    ),
    query('by two', {
      sort_by: [
        { field: 'n', direction: 'asc' },
        { field: 's', direction: 'desc' },
      ],
    }),
    query('by one, a page', { sort_by: [{ field: 's', direction: 'asc' }], limit: 2, offset: 1 }),
    query('by nothing', { sort_by: [] }),
    ask('rows of an unknown table', '/table/query', { digest: 'nope' }),
    ask('rows as a stream', '/table/query_stream', { digest }),
    ask('rows as a stream, sorted', '/table/query_stream', {
      digest,
      sort_by: [{ field: 's', direction: 'desc' }],
    }),
    ask('rows as a stream of an unknown table', '/table/query_stream', { digest: 'nope' }),
    ask('counts', '/table/query_stats', { digest }),
    ask('counts an empty one', '/table/query_stats', { digest: fieldOf('creates an empty one', 'digest') }),
    ask('counts an unknown one', '/table/query_stats', { digest: 'nope' }),
    ask('counts several with an unknown one', '/table/query_stats_batch', { digests: ['nope', digest] }),
    ask('counts none', '/table/query_stats_batch', { digests: [] }),
    ask('counts without digests', '/table/query_stats_batch', {}),
    ask('counts with sizes', '/table/query_stats_batch', { digests: [digest], include_storage_size: true }),
    update('append', { append: { row: { new: 1 } } }),
    update('pop', { pop: { index: 1 } }),
    update('insert', { insert: { index: 0, row: { first: true } } }),
    update('insert at the end', { insert: { index: 5, row: { last: true } } }),
    update(
      'all three',
      { pop: { index: 0 } },
      { append: { row: { x: 1 } } },
      { insert: { index: 2, row: { y: 2 } } },
      { pop: { index: 4 } },
    ),
    update('nothing'),
    ...[5, -1, 100].map((index) => update(`pop at ${index}`, { pop: { index } })),
    ...[6, -1].map((index) => update(`insert at ${index}`, { insert: { index, row: {} } })),
    update('an unknown one', { drop: { index: 0 } }),
    update('two in one', { pop: { index: 0 }, append: { row: {} } }),
    update('a row that is no object', { append: { row: 1 } }),
    ask('updates an unknown table', '/table/update', {
      base_digest: 'nope',
      updates: [{ append: { row: {} } }],
    }),
    ask('rows after the updates', '/table/query', { digest: fieldOf('updates: all three', 'digest') }),
    ask('of digests', '/table/create_from_digests', { row_digests: [rowDigest(2), rowDigest(0)] }),
    ask('rows of digests', '/table/query', { digest: fieldOf('of digests', 'digest') }),
    ask('of no digests', '/table/create_from_digests', { row_digests: [] }),
    ask('of unknown digests', '/table/create_from_digests', { row_digests: ['nope'] }),
    ask('rows of unknown digests', '/table/query', { digest: fieldOf('of unknown digests', 'digest') }),
    ask('of digests, expected', '/table/create_from_digests', {
      row_digests: [rowDigest(2)],
      expected_digest: 'a'.repeat(64),
    }),
  ]
})
