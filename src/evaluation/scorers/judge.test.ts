import { expect, it } from 'vitest'
import { Judge, judgeMessages } from './judge.ts'

it('a placeholder is filled from the column of its own name, even where column_map names another column', () => {
  const column_map = { target: 'expected', question: 'asked', other: 'missing' }
  const judge = Judge.parse({ model: 'm', scoring_prompt: 'p', column_map })
  const scored = { output: 'x', inputs: { target: 'its own', expected: 'mapped', asked: 'why?' } }
  const [message] = judgeMessages({ judge, prompt: '{target} {question}' }, scored)
  expect(message).toEqual({ role: 'user', content: 'its own why?' })
  expect(() => judgeMessages({ judge, prompt: '{other}' }, scored)).toThrow('asks for {other}')
})

it('a prompt is refused before it is filled with more than a question may have', () => {
  const judge = Judge.parse({ model: 'm', scoring_prompt: 'p' })
  const messages = Array.from({ length: 60 }, () => ({ role: 'user', content: '{output}'.repeat(10_000) }))
  const ask = (output: unknown) => () => judgeMessages({ judge, prompt: messages }, { output, inputs: {} })
  const tooLarge = 'The messages have more than 4194304 characters with what is filled in'
  for (const output of ['x'.repeat(10_000), ['x'.repeat(10_000)], Array(10_000).fill(0)])
    expect(ask(output)).toThrow(tooLarge)
  expect(ask('')).toThrow('The messages have more than 100000 placeholders')
})
