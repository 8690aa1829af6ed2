import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { shellWord } from './shell-word.ts'

it.each(['/srv/heddle-1', '/tmp/r ü', "it's", '', '$HOME', '~', 'a\nb', '`id`;"*"\\'])(
  'a shell reads %j as that one text',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf '%s|' ${shellWord(text)}`], { encoding: 'utf8' })).toBe(
      `${text}|`,
    )
  },
)

it('leaves a plain path as it is', () => {
  expect(shellWord('/srv/heddle-1')).toBe('/srv/heddle-1')
})
