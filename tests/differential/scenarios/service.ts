import { type Request, scenario } from '../scenario.ts'

/** The sizes of a project, and requests that are no requests. */
export const service = scenario('service', (project, ask) => {
  const raw = (title: string, path: string, body: string): Request => ({ title, method: 'POST', path, body })
  const included = ['trace', 'object', 'table', 'file'].map((kind) => `include_${kind}_storage_size`)
  const none = Object.fromEntries(included.map((name) => [name, false]))
  return [
    ask('an object', '/obj/create', {
      project_id: undefined,
      obj: { project_id: project, object_id: 'o', val: { a: 1 } },
    }),
    ask('a table', '/table/create', {
      project_id: undefined,
      table: { project_id: project, rows: [{ a: 1 }] },
    }),
    ask('sizes', '/project/stats'),
    ask('no sizes', '/project/stats', none),
    ...included.map((name) => ask(`sizes: only ${name}`, '/project/stats', { ...none, [name]: true })),
    ask('sizes of nothing', '/project/stats', { project_id: 'differential/nobody' }),
    ...['/call/start', '/calls/stream_query', '/obj/create', '/feedback/create', '/table/query'].flatMap(
      (path) => [
        raw(`half of a document at ${path}`, path, '{"project_id": "a'),
        raw(`a list at ${path}`, path, '[]'),
        raw(`an empty object at ${path}`, path, '{}'),
        raw(`text at ${path}`, path, '"x"'),
      ],
    ),
    raw('an unknown path', '/nope', '{}'),
  ]
})
