import { expect, it } from 'vitest'
import { JsonText } from '../../lossless-json.ts'
import { affinityOf } from './affinity.ts'

const message = (role: string, content: string) => ({ role, content })

it('is equal for all turns of a conversation, and another for another one', () => {
  const first = [message('system', 'be kind'), message('user', 'hi')]
  const later = [...first, message('assistant', 'hello'), message('user', 'and now?')]
  expect(affinityOf({ messages: later })).toBe(affinityOf({ messages: first, temperature: 1 }))
  expect(affinityOf({ messages: [first[0], message('user', 'hey')] })).not.toBe(
    affinityOf({ messages: first }),
  )
})

it('is the beginning of a prompt, as text, token ids or JSON', () => {
  const long = 'a'.repeat(5_000)
  expect(affinityOf({ prompt: `${long}b` })).toBe(affinityOf({ prompt: `${long}c` }))
  expect(affinityOf({ prompt: [1, 2, 3] })).not.toBe(affinityOf({ prompt: [1, 2, 4] }))
  expect(affinityOf({ prompt: new JsonText('[1,2,3]') })).toBe('[1,2,3]')
  expect(affinityOf({})).toBe(affinityOf({ input: 'embedded' }))
})
