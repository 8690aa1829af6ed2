import { expect, it } from 'vitest'
import { Judge, judgeMessages } from './judge.ts'

it('a placeholder is filled from the column of its own name, even where column_map names another column', () => {
  const column_map = { target: 'expected', question: 'asked', other: 'missing' }
  const judge = Judge.parse({ model: 'm', scoring_prompt: 'p', column_map })
  const scored = { output: 'x', inputs: { target: 'its own', expected: 'mapped', asked: 'why?' } }
  const [message] = judgeMessages('{target} {question}', judge, scored)
  expect(message).toEqual({ role: 'user', content: 'its own why?' })
  expect(() => judgeMessages('{other}', judge, scored)).toThrow('asks for {other}')
})
