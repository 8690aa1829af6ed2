import { fieldOf, idOf, type Later, refTo, scenario } from '../scenario.ts'

const VALUE = {
  name: 'v',
  list: [1, { deep: 'x' }, [2, 3]],
  dict: { a: { b: null }, 'k/k': 'slash', 'sp ace': 1.5 },
  empty: {},
  nothing: null,
}

/** What refs lead to, in one batch or several. */
export const refs = scenario('refs', (project, ask) => {
  const create = (title: string, object_id: string, val: unknown) =>
    ask(title, '/obj/create', { project_id: undefined, obj: { project_id: project, object_id, val } })
  const read = (title: string, ...uris: unknown[]) =>
    ask(title, '/refs/read_batch', { project_id: undefined, refs: uris })
  const to = (path: string) => refTo(project, 'o', 'value', path)
  const rows = (path: string) => refTo(project, 'data', 'dataset', path)
  const rowPath =
    (index: number, path = ''): Later =>
    (said) => {
      const digests = said('table')['row_digests'] as string[] // Tables answer with a list of texts.
      return `weave:///${project}/object/data:${said('dataset')['digest']}/attr/rows/id/${digests[index]}${path}`
    }
  return [
    create('value', 'o', VALUE),
    create('link', 'link', {
      to: to(''),
      part: to('/key/list'),
      far: 'weave:///differential/elsewhere/object/x:abc',
    }),
    ask('table', '/table/create', {
      project_id: undefined,
      table: { project_id: project, rows: [{ q: 'why', o: to('') }, { q: 'how' }] },
    }),
    create('dataset', 'data', {
      rows: fieldOf('table', 'digest', (digest) => `weave:///${project}/table/${digest}`),
    }),
    create('op', 'op', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} }),
    read('a whole value', to('')),
    ...[
      '/attr/name',
      '/key/name',
      '/attr/list/index/0',
      '/key/list/index/1/key/deep',
      '/key/list/index/2/index/1',
      '/key/list/index/9',
      '/key/list/index/-1',
      '/key/list/key/x',
      '/key/dict/key/a/key/b',
      '/key/dict/key/k%2Fk',
      '/key/dict/key/sp%20ace',
      '/key/nope',
      '/key/nothing/key/x',
      '/key/name/key/x',
      '/key/empty',
      '/index/0',
      '/id/abc',
    ].map((path) => read(`path ${path}`, to(path))),
    read('a link', refTo(project, 'link', 'link')),
    read('through a link', refTo(project, 'link', 'link', '/key/to/key/name')),
    read('through a link to a part', refTo(project, 'link', 'link', '/key/part/index/0')),
    read('a link as it is', refTo(project, 'link', 'link', '/key/to')),
    read('through a link to another project', refTo(project, 'link', 'link', '/key/far/key/x')),
    read('rows', rows('/attr/rows')),
    read('a row', rowPath(0)),
    read('a field of a row', rowPath(1, '/key/q')),
    read('through a link in a row', rowPath(0, '/key/o/key/name')),
    read('a row that is not there', rows('/attr/rows/id/nope')),
    read('a row by index', rows('/attr/rows/index/0')),
    read('an op', refTo(project, 'op', 'op')),
    read(
      'an op by its kind',
      fieldOf('op', 'digest', (digest) => `weave:///${project}/op/op:${digest}`),
    ),
    read('several', to('/key/name'), rowPath(1), to('/key/nope')),
    read('the same twice', to('/key/name'), to('/key/name')),
    read('none'),
    read('latest', `weave:///${project}/object/o:latest`),
    read('a version by index', `weave:///${project}/object/o:v0`),
    read('an unknown version', `weave:///${project}/object/o:${'x'.repeat(43)}`),
    read('an unknown one among known', to(''), `weave:///${project}/object/nope:${'x'.repeat(43)}`),
    read('a call', `weave:///${project}/call/${idOf('call')}`),
    read(
      'a table',
      fieldOf('table', 'digest', (digest) => `weave:///${project}/table/${digest}`),
    ),
    read('no ref', 'nope'),
    read('half a ref', 'weave:///nope'),
    read('a private ref', 'weave-trace-internal:///someone/object/o:abc'),
    read('an odd path', to('/key')),
    read('an unknown kind of path', to('/door/x')),
    read('too many', ...Array.from({ length: 1001 }, () => to(''))),
    ask('deletes', '/obj/delete', { object_id: 'o' }),
    read('a deleted one', to('')),
    read('a deleted one among others', to('/key/name'), rowPath(1, '/key/q')),
    read('through a link to a deleted one', refTo(project, 'link', 'link', '/key/to/key/name')),
  ]
})
