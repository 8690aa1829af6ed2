import { fieldOf, type Request, scenario } from '../scenario.ts'

/** Files, their contents and their sizes. */
export const files = scenario('files', (project, ask) => {
  const upload = (
    title: string,
    content: string | undefined,
    fields: Record<string, string> = {},
  ): Request => {
    const form = new FormData()
    form.set('project_id', project)
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    if (content !== undefined) form.set('file', new Blob([content]), 'name.txt')
    return { title, method: 'POST', path: '/file/create', body: form }
  }
  const content = (title: string, digest: unknown) => ask(title, '/file/content', { digest })
  return [
    ask('sizes of none', '/files/query_stats'),
    upload('uploads', 'hello'),
    upload('uploads again', 'hello'),
    upload('uploads an empty one', ''),
    upload('uploads text of any kind', 'é😀\r\n\u0000\u0001'),
    upload('uploads one of several chunks', 'x'.repeat(250_001)),
    upload('uploads with the right digest', 'hello', {
      expected_digest: 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ',
    }),
    upload('uploads with a wrong digest', 'other', {
      expected_digest: 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ',
    }),
    upload('uploads nothing', undefined),
    ...['uploads', 'uploads an empty one', 'uploads text of any kind', 'uploads one of several chunks'].map(
      (title) => content(`content: ${title}`, fieldOf(title, 'digest')),
    ),
    content('content of an unknown file', 'nope'),
    ask('content in another project', '/file/content', {
      project_id: 'differential/nobody',
      digest: fieldOf('uploads', 'digest'),
    }),
    ask('content without a digest', '/file/content'),
    ask('sizes', '/files/query_stats'),
  ]
})
