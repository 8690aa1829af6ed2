import { expect, it } from 'vitest'
import { JsonText } from '../../json/lossless-json.ts'
import { beginningOf } from './beginning.ts'

const message = (role: string, content: string) => ({ role, content })

it('is equal for all turns of a conversation, and another for another one', () => {
  const first = [message('system', 'be kind'), message('user', 'hi')]
  const later = [...first, message('assistant', 'hello'), message('user', 'and now?')]
  expect(beginningOf({ messages: later })).toBe(beginningOf({ messages: first, temperature: 1 }))
  expect(beginningOf({ messages: [first[0], message('user', 'hey')] })).not.toBe(
    beginningOf({ messages: first }),
  )
})

it('is the beginning of a prompt, as text, token ids or JSON', () => {
  const long = 'a'.repeat(5_000)
  expect(beginningOf({ prompt: `${long}b` })).toBe(beginningOf({ prompt: `${long}c` }))
  expect(beginningOf({ prompt: [1, 2, 3] })).not.toBe(beginningOf({ prompt: [1, 2, 4] }))
  expect(beginningOf({ prompt: new JsonText('[1,2,3]') })).toBe('[1,2,3]')
  expect(beginningOf({})).toBe(beginningOf({ input: 'embedded' }))
})
