import { describe, expect, it } from 'vitest'
import { chatOf } from './chat-shapes.ts'

const ASKED = { messages: [{ role: 'user', content: 'Why?' }] }

/** The answer that is read from an output. */
function answerOf(output: unknown, inputs: unknown = ASKED) {
  return chatOf({ inputs, output })?.answer
}

describe('what a model thought before it answered', () => {
  const answer = { role: 'assistant', content: 'Blue.' }
  const thought = { ...answer, reasoning: 'Light scatters.' }

  it.each([
    ['reasoning', thought],
    ['reasoning_content', { ...answer, reasoning_content: thought.reasoning }],
    ['reasoning before reasoning_content', { ...thought, reasoning_content: 'Other.' }],
    [
      'parts of reasoning',
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Light ' },
          { type: 'reasoning', content: 'scatters.' },
          { type: 'text', content: 'Blue.' },
        ],
      },
    ],
  ])('is kept with the answer, from %s', (_, message) => {
    expect(answerOf({ choices: [{ message }] })).toEqual(thought)
  })

  it.each([
    [{ reasoning: '' }],
    [{ reasoning: null, reasoning_content: null }],
    [{ reasoning: { effort: 'high' } }],
  ])('is nothing for %j', (fields) => {
    expect(answerOf({ choices: [{ message: { ...answer, ...fields } }] })).toEqual(answer)
  })

  it('is kept in earlier answers', () => {
    const messages = [...ASKED.messages, thought, { role: 'user', content: 'And at night?' }]
    expect(chatOf({ inputs: { messages }, output: answer })?.prompt).toEqual(messages)
  })
})
