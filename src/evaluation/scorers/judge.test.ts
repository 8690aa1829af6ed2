import { expect, it } from 'vitest'
import { Judge, judgeMessages } from './judge.ts'

it('a judge is told of the column with the name of a placeholder before the one that its column_map names', () => {
  const column_map = { target: 'expected', question: 'asked', other: 'missing' }
  const judge = Judge.parse({ model: 'm', scoring_prompt: 'p', column_map })
  const scored = { output: 'x', inputs: { target: 'its own', expected: 'mapped', asked: 'why?' } }
  const [message] = judgeMessages('{target} {question}', judge, scored)
  expect(message).toEqual({ role: 'user', content: 'its own why?' })
  expect(() => judgeMessages('{other}', judge, scored)).toThrow('asks for {other}')
})
