import { fieldOf, refTo, scenario } from '../scenario.ts'

const VALUES: Record<string, unknown> = {
  null: null,
  number: 1.5,
  text: 'it',
  list: [1, 2.5, -0.5, 1e21, 1e-7, 123456789012345],
  object: { b: 1, a: { z: null, y: [true, false] } },
  'odd keys': { é: 'ü😀\u0007/\u007f', Z: true, '\uffff': 1, '😀': 2, '': 0 },
  'escaped text': { s: 'a"b\\c\nd\te\u2028f<&>' },
  op: { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': 'abc' } },
  'of a class': { _type: 'Model', _class_name: 'Mine', _bases: ['Model', 'Object', 'BaseModel'], name: 'm' },
  'of a base class': { _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'], rows: [] },
  'of another class': { _type: 'X', _class_name: 'X', _bases: ['BaseModel'] },
}

/** Publishing, reading, listing and deleting versions. */
export const objects = scenario('objects', (project, ask) => {
  const create = (title: string, object_id: string, val: unknown, fields: object = {}) =>
    ask(title, '/obj/create', {
      project_id: undefined,
      obj: { project_id: project, object_id, val, ...fields },
    })
  const read = (title: string, object_id: string, digest: unknown, fields: object = {}) =>
    ask(title, '/obj/read', { object_id, digest, ...fields })
  const list = (title: string, filter: object | undefined, fields: object = {}) =>
    ask(title, '/objs/query', { filter, ...fields })
  return [
    ...Object.entries(VALUES).map(([kind, value]) =>
      create(`creates ${kind}`, `kind-${kind.replaceAll(' ', '-')}`, value),
    ),
    ...Object.keys(VALUES).map((kind) =>
      read(`reads ${kind}`, `kind-${kind.replaceAll(' ', '-')}`, 'latest'),
    ),
    create('publishes 1', 'versioned', { v: 1 }),
    create('publishes 2', 'versioned', { v: 2 }),
    create('publishes 3', 'versioned', { v: 3 }),
    create('publishes 1.0', 'versioned', { v: 1.25 }),
    create('publishes a ref', 'referring', { to: refTo(project, 'versioned', 'publishes 1') }),
    read('reads a ref', 'referring', 'latest'),
    ...['latest', 'v0', 'v1', 'v9', 'nope', 'x'.repeat(43), '', 'v', 'V0'].map((digest) =>
      read(`reads version "${digest}"`, 'versioned', digest),
    ),
    read('reads by digest', 'versioned', fieldOf('publishes 2', 'digest')),
    read('reads without the value', 'versioned', 'latest', { metadata_only: true }),
    read('reads with labels', 'versioned', 'latest', { include_tags_and_aliases: true }),
    read('reads an unknown object', 'nope', 'latest'),
    read('reads in an unknown project', 'versioned', 'latest', { project_id: 'differential/nobody' }),
    list('lists all', undefined),
    list('lists all, filter null', {}, { filter: null }),
    ...[
      {},
      { object_ids: ['versioned'] },
      { object_ids: ['versioned', 'kind-text', 'nope'] },
      { object_ids: [] },
      { latest_only: true },
      { latest_only: true, object_ids: ['versioned'] },
      { is_op: true },
      { is_op: false },
      { base_object_classes: ['Model'] },
      { base_object_classes: ['Model', 'Dataset'] },
      { base_object_classes: [] },
      { leaf_object_classes: ['Mine'] },
      { exclude_base_object_classes: ['Model'] },
      { exclude_base_object_classes: [] },
    ].map((filter) => list(`lists ${JSON.stringify(filter)}`, filter)),
    ...[0, 1, 3, 1000, -1].map((limit) => list(`lists to ${limit}`, {}, { limit })),
    ...[0, 2, 1000, -1].map((offset) => list(`lists from ${offset}`, {}, { offset })),
    list('lists 2 from 3', {}, { limit: 2, offset: 3 }),
    ...['object_id', 'created_at'].flatMap((field) =>
      ['asc', 'desc'].map((direction) =>
        list(`lists by ${field} ${direction}`, { latest_only: true }, { sort_by: [{ field, direction }] }),
      ),
    ),
    list(
      'lists by two',
      {},
      {
        sort_by: [
          { field: 'object_id', direction: 'desc' },
          { field: 'created_at', direction: 'desc' },
        ],
      },
    ),
    list('lists without values', { object_ids: ['versioned'] }, { metadata_only: true }),
    list('lists with sizes', { object_ids: ['versioned', 'kind-text'] }, { include_storage_size: true }),
    list('lists an unknown project', {}, { project_id: 'differential/nobody' }),
    list('lists without a project', {}, { project_id: undefined }),
    ...[
      ['a name with a space', 'a b'],
      ['a name with a slash', 'a/b'],
      ['a name with a colon', 'a:b'],
      ['a name with letters of any kind', 'é日本-._x'],
      ['an empty name', ''],
      ['a name of 128', 'x'.repeat(128)],
      ['a name of 129', 'x'.repeat(129)],
    ].map(([title = '', name = '']) => create(title, name, 1)),
    create(
      'the right digest',
      'checked',
      { a: 1 },
      { expected_digest: 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA' },
    ),
    create(
      'a wrong digest',
      'checked',
      { a: 2 },
      { expected_digest: 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA' },
    ),
    create('a malformed ref', 'broken', { r: 'weave:///nowhere' }),
    create('a private ref', 'broken', { r: 'weave-trace-internal:///someone/object/o:abc' }),
    create('no value', 'broken', undefined),
    create('a project without an entity', 'broken', 1, { project_id: 'nobody' }),
    create('publishes one', 'again', 1),
    create('publishes another', 'again', 2),
    create('publishes the one again', 'again', 1),
    ask('lists with a limit as text', '/objs/query', { limit: '2', offset: '1', metadata_only: 'yes' }),
    ask('lists with a limit that is true', '/objs/query', { limit: true }),
    ask('lists with a limit that is no number', '/objs/query', { limit: 'two' }),
    ask('lists with a limit between numbers', '/objs/query', { limit: '2.5' }),
    ask('lists with a word that is no boolean', '/objs/query', { metadata_only: 'maybe' }),
    list('lists the one published again', { object_ids: ['again'] }),
    ...deletions(project).map(([title, path, fields]) => ask(title, path, fields)),
  ]
})

function deletions(project: string): [title: string, path: string, fields: Record<string, unknown>][] {
  const remove = (title: string, digests?: unknown): [string, string, Record<string, unknown>] => [
    title,
    '/obj/delete',
    { object_id: 'versioned', digests },
  ]
  const show = (title: string): [string, string, Record<string, unknown>] => [
    title,
    '/objs/query',
    { filter: { object_ids: ['versioned'] } },
  ]
  const read = (title: string, digest: unknown): [string, string, Record<string, unknown>] => [
    title,
    '/obj/read',
    { object_id: 'versioned', digest },
  ]
  const obj = { project_id: project, object_id: 'versioned', val: { v: 2 } }
  return [
    remove('deletes one', ['v1']),
    show('lists after one was deleted'),
    read('reads a deleted version', 'v1'),
    read('reads a deleted digest', fieldOf('publishes 2', 'digest')),
    remove('deletes it again', ['v1']),
    remove('deletes the latest', ['latest']),
    read('reads the new latest', 'latest'),
    show('lists after the latest was deleted'),
    remove('deletes an unknown version', ['v99']),
    remove('deletes an unknown digest', ['nope']),
    remove('deletes a known and an unknown one', ['v0', 'v99']),
    remove(
      'deletes too many',
      Array.from({ length: 101 }, (_, index) => `v${index}`),
    ),
    ['publishes a deleted one again', '/obj/create', { project_id: undefined, obj }],
    show('lists after it came back'),
    remove('deletes all'),
    show('lists after all were deleted'),
    read('reads the latest of none', 'latest'),
    remove('deletes all again'),
    ['deletes no versions', '/obj/delete', { object_id: 'again', digests: [] }],
    ['lists after no versions were deleted', '/objs/query', { filter: { object_ids: ['again'] } }],
    ['deletes an unknown object', '/obj/delete', { object_id: 'nope' }],
  ]
}
