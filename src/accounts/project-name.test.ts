import { expect, it } from 'vitest'
import { parseProjectId, projectIdInHeader } from './project-name.ts'

/** Text as a header shows it whose bytes are its UTF-8. */
function inBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

it.each([
  ['as it is', 'team/my project', 'team/my project'],
  ['percent-encoded', 'team/caf%C3%A9%20%D0%BF', 'team/café п'],
  ['percent-encoded as a whole', 'team%2Fp', 'team/p'],
  ['in Latin-1', 'team/café', 'team/café'],
  ['in UTF-8', inBytes('team/café п'), 'team/café п'],
  ['partly percent-encoded, in UTF-8', inBytes('team/café%20п'), 'team/café п'],
  ['with a percent sign that encodes nothing', 'team/100%', 'team/100%'],
  ['with a percent sign in UTF-8', inBytes('team/100% п'), 'team/100% п'],
  ['with an encoded percent sign', 'team/a%2520b', 'team/a%20b'],
])('a header names a project %s', (_how, value, projectId) => {
  expect(projectIdInHeader(value)).toBe(projectId)
})

it.each([
  ['p', 'Invalid project_id: p; expected entity/project with one slash'],
  ['team/a b / x', 'Invalid project_id: team/a b / x; expected entity/project with one slash'],
  [
    `team/${'p'.repeat(129)}`,
    `Invalid project_id: team/${'p'.repeat(123)}…; the name of the project has more than 128 characters`,
  ],
  [
    `${'e'.repeat(129)}/p`,
    `Invalid project_id: ${'e'.repeat(128)}…; the name of the entity has more than 128 characters`,
  ],
])('the refusal of %j says why', (projectId, message) => {
  expect(() => parseProjectId(projectId)).toThrow(message)
})

it('names may be as long as the limit', () => {
  const name = 'p'.repeat(128)
  expect(parseProjectId(`${name}/${name}`)).toEqual({ entity: name, name })
})
