import { expect, it } from 'vitest'
import type { CallContext } from '../../http/caller.ts'
import type { Target } from '../served-models/service.ts'
import { createProjectOf, projectNamed } from './project-header.ts'

function inHeader(value: string) {
  const caller = { rights: {} } as CallContext['caller']
  return createProjectOf(['openai-project'])(
    { header: () => value, caller } as unknown as CallContext,
    {} as Target,
  )
}

it.each([
  ['team/p', 'team/p'],
  ['team/my project', 'team/my project'],
  ['ключ/проект 100%', 'ключ/проект 100%'],
])('a project is named as elsewhere: %j', (text, named) => {
  const [entity, project] = named.split('/')
  expect(projectNamed(text)).toEqual({ entity, project })
  expect(inHeader(encodeURI(text))).toEqual({ entity, project })
})

it.each(['', 'p', 'a/b/c', '/p', 'team/', 'team/%20', 'team/a%0Ab', 'team/a%2Fb', `team/${'a'.repeat(129)}`])(
  'a header that names no project is ignored: %j',
  (text) => {
    expect(inHeader(text)).toBeUndefined()
  },
)
