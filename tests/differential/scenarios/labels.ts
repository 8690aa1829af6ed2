import { fieldOf, type Request, scenario } from '../scenario.ts'

/** The digests of {"a":1}, {"a":2} and {"a":3}: digests of values without refs are the same everywhere. */
const FIRST = 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA'
const SECOND = '5anVsDAOD1DTcuWp3fokIIqsmpQM6aNvJHOHIhriBf4'
const THIRD = 'd5WZrervY13uKxMJ88Ee4v7ooyl6XWllJrroyQKctAg'

/** Tags and aliases of versions. */
export const labels = scenario('labels', (project, ask) => {
  const create = (title: string, object_id: string, val: unknown) =>
    ask(title, '/obj/create', { project_id: undefined, obj: { project_id: project, object_id, val } })
  const digest = (title: string) => fieldOf(title, 'digest')
  const tag = (title: string, version: string, tags: unknown) =>
    ask(`tags ${title}`, pathOf('o', version), { tags }, 'PUT')
  const alias = (title: string, version: unknown, aliases: unknown) =>
    ask(`aliases ${title}`, '/objs/o/aliases', { digest: version, aliases }, 'PUT')
  const listed = (title: string) => [
    get(`tags ${title}`, `/tags?project_id=${encodeURIComponent(project)}`),
    get(`aliases ${title}`, `/aliases?project_id=${encodeURIComponent(project)}`),
    ask(`objects ${title}`, '/objs/query', { include_tags_and_aliases: true }),
  ]
  const objs = (filter: object) =>
    ask(`lists ${JSON.stringify(filter)}`, '/objs/query', { filter, include_tags_and_aliases: true })
  const read = (version: string) =>
    ask(`reads "${version}"`, '/obj/read', {
      object_id: 'o',
      digest: version,
      include_tags_and_aliases: true,
    })
  return [
    create('first', 'o', { a: 1 }),
    create('second', 'o', { a: 2 }),
    create('third', 'o', { a: 3 }),
    create('other', 'other', 1),
    tag('three', FIRST, ['b', 'a', 'b']),
    tag('words', SECOND, ['two words']),
    tag('the same again', FIRST, ['a']),
    ...['latest', 'v0', 'x'.repeat(43)].map((version) => tag(`version ${version}`, version, ['x'])),
    ...['', 'a  b', ' a', 'a/b', 'é', 'x'.repeat(256), 'x'.repeat(257), 'a.b', 'a-b_c'].map((name) =>
      tag(`as "${name.slice(0, 20)}" of ${name.length}`, FIRST, [name]),
    ),
    tag('as nothing', FIRST, []),
    tag('as a number', FIRST, [1]),
    alias('two', digest('first'), ['prod', 'Prod x']),
    alias('moved', digest('second'), ['prod']),
    alias('of the last', digest('third'), ['stage']),
    ...['latest', 'v0', 'x'.repeat(43)].map((version) => alias(`version ${version}`, version, ['y'])),
    ...['latest', 'v1', 'a/b', 'a:b', '', '  ', 'x'.repeat(128), 'x'.repeat(129), 'é'].map((name) =>
      alias(`as "${name.slice(0, 20)}" of ${name.length}`, digest('first'), [name]),
    ),
    alias('as nothing', digest('first'), []),
    ...['prod', 'Prod x', 'stage', 'latest', 'v0', 'v1', 'nope', 'y'].map(read),
    ...listed('at first'),
    get('tags of no project', '/tags'),
    get('tags of an unknown project', '/tags?project_id=differential%2Fnobody'),
    ...[
      { tags: ['a'] },
      { tags: ['a', 'two words'] },
      { tags: ['nope'] },
      { tags: [] },
      { aliases: ['prod'] },
      { aliases: ['latest'] },
      { aliases: ['prod', 'latest'] },
      { aliases: ['nope'] },
      { tags: ['a'], aliases: ['stage'] },
      { tags: ['a'], latest_only: true },
    ].map(objs),
    ask('removes tags', `${pathOf('o', FIRST)}/remove`, { tags: ['a', 'zz', '!!/'] }),
    ask('removes tags of an unknown version', '/objs/zz/versions/zz/tags/remove', { tags: ['a'] }),
    ask('removes aliases', '/objs/o/aliases/remove', { aliases: ['Prod x', 'zz'] }),
    ask('removes an alias with a slash', '/objs/o/aliases/remove', { aliases: ['a/b'] }),
    ask('removes aliases of an unknown object', '/objs/zz/aliases/remove', { aliases: ['a'] }),
    ...listed('after removals'),
    ask('deletes by alias', '/obj/delete', { object_id: 'o', digests: ['prod'] }),
    ask('deletes a labelled version', '/obj/delete', { object_id: 'o', digests: [digest('third')] }),
    ask('tags a deleted version', pathOf('o', THIRD), { tags: ['x'] }, 'PUT'),
    alias('a deleted version', digest('third'), ['z']),
    ask('reads by the alias of a deleted version', '/obj/read', { object_id: 'o', digest: 'stage' }),
    ...listed('after deletions'),
  ]
})

function pathOf(objectId: string, version: string): string {
  return `/objs/${objectId}/versions/${version}/tags`
}

function get(title: string, path: string): Request {
  return { title, method: 'GET', path }
}
