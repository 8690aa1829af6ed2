import { fieldOf, type Request, scenario } from '../scenario.ts'

const SOURCE = 'import weave\n\n@weave.op\ndef add(a: int, b: int) -> int:\n    return a + b  # é 😀\n'

/** Bodies that each make a version, in order, of the object `my_thing`. */
const VERSIONS: Record<string, readonly object[]> = {
  ops: [
    { name: 'My Thing', source_code: SOURCE },
    { name: 'my/thing', source_code: 'def f(): pass\n' },
    { name: 'my thing', source_code: '' },
  ],
  datasets: [
    { name: 'My Thing', description: 'first', rows: [{ a: 1, b: 'x' }, { a: 2.5 }, { a: 1, b: 'x' }] },
    { name: 'my/thing', rows: [] },
    { name: 'my/thing', description: null, rows: [{ deep: { list: [1, null, true] } }] },
  ],
  scorers: [
    { name: 'My Thing', description: 'first', op_source_code: SOURCE },
    { name: 'my/thing', op_source_code: 'def score(output): return 1\n' },
  ],
  models: [
    { name: 'My Thing', description: 'first', source_code: SOURCE },
    { name: 'my/thing', source_code: SOURCE, attributes: { temperature: 0.5, nested: { a: [1, 2] } } },
    { name: 'my/thing', source_code: 'class M: pass\n', attributes: {} },
  ],
  evaluations: [
    { name: 'My Thing', description: 'first', dataset: 'weave:///differential/typed/object/d:abc' },
    {
      name: 'my/thing',
      dataset: 'weave:///differential/typed/object/d:abc',
      scorers: ['weave:///differential/typed/object/s:abc', 'weave:///differential/typed/object/t:abc'],
      trials: 3,
      evaluation_name: 'nightly',
      eval_attributes: { owner: 'me', threshold: 0.25 },
    },
  ],
}

/** Bodies that say too little, or something else than they should. */
const WRONG: Record<string, readonly object[]> = {
  ops: [{ name: 1 }, { source_code: [] }],
  datasets: [{}, { rows: null }, { rows: [1] }, { rows: [{}], name: 3 }],
  scorers: [{}, { name: 'x' }, { op_source_code: 'x' }, { name: null, op_source_code: 'x' }],
  models: [{}, { name: 'x' }, { name: 'x', source_code: 'x', attributes: [] }],
  evaluations: [
    {},
    { name: 'x' },
    { name: 'x', dataset: 'd', scorers: 's' },
    { name: 'x', dataset: 'd', trials: 'y' },
  ],
}

/** Making, listing, reading and deleting the versions of one group. */
export const typedObjects = (group: string) =>
  scenario(`typed objects of ${group}`, (project, ask) => {
    const bodies = VERSIONS[group] ?? []
    const path = `/v2/${project}/${group}`
    const create = (title: string, body: object) => ask(title, path, body)
    const get = (title: string, rest: string): Request => ({ title, method: 'GET', path: `${path}${rest}` })
    const remove = (title: string, rest: string): Request => ({
      title,
      method: 'DELETE',
      path: `${path}${rest}`,
    })
    const read = (title: string, id: string, digest: string) => get(title, `/${id}/versions/${digest}`)
    const objectOf = (title: string, created: string) =>
      ask(title, '/obj/read', {
        object_id: fieldOf(created, 'object_id'),
        digest: fieldOf(created, 'digest'),
      })
    return [
      get('lists nothing', ''),
      ...bodies.map((body, index) => create(`creates v${index}`, body)),
      ...bodies.map((body, index) => create(`creates v${index} again`, body)),
      ...(group === 'ops' ? [create('without a name', { source_code: 'x' }), create('of nothing', {})] : []),
      ...(group === 'datasets' ? [create('without a name', { rows: [{ a: 1 }] })] : []),
      ...bodies.map((_, index) => objectOf(`reads the object of v${index}`, `creates v${index}`)),
      ...['latest', 'v0', 'v1', 'v9', 'nope', 'x'.repeat(43)].map((digest) =>
        read(`reads ${digest}`, 'my_thing', digest),
      ),
      read('reads an unknown one', 'nobody', 'latest'),
      get('lists', ''),
      ...[
        'limit=1',
        'limit=0',
        'limit=2&offset=1',
        'offset=1',
        'offset=100',
        'limit=-1',
        'limit=x',
        'offset=1.5',
      ].map((query) => get(`lists ${query}`, `?${query}`)),
      ask('lists the objects', '/objs/query', { filter: { is_op: group === 'ops' }, metadata_only: true }),
      ...(WRONG[group] ?? []).map((body) => create(`creates ${JSON.stringify(body)}`, body)),
      ...['é日本-._X', 'a:b', '!!!', '', 'x'.repeat(129)].map((name) =>
        create(`is named "${name.slice(0, 9)}"`, { ...bodies[0], name }),
      ),
      remove('deletes an unknown one', '/nobody'),
      remove('deletes an unknown version', '/my_thing?digests=v0&digests=v9'),
      remove('deletes v0', '/my_thing?digests=v0'),
      read('reads the deleted v0', 'my_thing', 'v0'),
      read('reads the latest of the others', 'my_thing', 'latest'),
      get('lists the others', ''),
      remove('deletes v0 again', '/my_thing?digests=v0'),
      remove('deletes the others', '/my_thing'),
      read('reads the deleted latest', 'my_thing', 'latest'),
      remove('deletes the others again', '/my_thing'),
      create('comes back', bodies[0] ?? {}),
      read('reads what came back', 'my_thing', 'latest'),
      ...(group === 'models'
        ? [create('with an attribute name', { name: 'odd', source_code: 'x', attributes: { name: 'other' } })]
        : []),
    ]
  })

/** What clients publish themselves, read by the groups. */
export const publishedObjects = scenario('published objects', (project, ask) => {
  const publish = (title: string, object_id: string, val: object) =>
    ask(title, '/obj/create', { project_id: undefined, obj: { project_id: project, object_id, val } })
  const instance = (className: string, bases: string[], fields: object) => ({
    _type: className,
    _class_name: className,
    _bases: [...bases, 'Object', 'BaseModel'],
    ...fields,
  })
  const read = (group: string, id: string): Request => ({
    title: `reads ${id} of ${group}`,
    method: 'GET',
    path: `/v2/${project}/${group}/${id}/versions/latest`,
  })
  const list = (group: string): Request => ({
    title: `lists ${group}`,
    method: 'GET',
    path: `/v2/${project}/${group}`,
  })
  const ref = (id: string) => `weave:///${project}/object/${id}:abc`
  return [
    publish(
      'a dataset',
      'data',
      instance('Dataset', [], { name: 'data', description: 'd', rows: ref('rows') }),
    ),
    publish(
      'a scorer',
      'scorer',
      instance('Mine', ['Scorer'], { name: 'scorer', score: ref('op'), summarize: ref('op') }),
    ),
    publish('a model', 'model', instance('Mine', ['Model'], { name: 'model', description: null, size: 1.5 })),
    publish(
      'an evaluation',
      'evaluation',
      instance('Evaluation', [], { name: 'e', dataset: ref('data'), scorers: [ref('scorer')], trials: 2 }),
    ),
    publish('an op', 'op', {
      _type: 'CustomWeaveType',
      weave_type: { type: 'Op' },
      files: { 'obj.py': 'gone' },
    }),
    publish('something else', 'other', { a: 1 }),
    read('datasets', 'data'),
    read('scorers', 'scorer'),
    read('models', 'model'),
    read('evaluations', 'evaluation'),
    read('ops', 'op'),
    read('ops', 'data'),
    read('datasets', 'other'),
    read('datasets', 'model'),
    read('evaluations', 'data'),
    ...['datasets', 'scorers', 'models', 'evaluations', 'ops'].map(list),
    { title: 'deletes a model as a dataset', method: 'DELETE', path: `/v2/${project}/datasets/model` },
    { title: 'deletes a dataset as an op', method: 'DELETE', path: `/v2/${project}/ops/data` },
    ask('lists what is left', '/objs/query', { metadata_only: true }),
  ]
})
