import { expect, it } from 'vitest'
import { Chunk, createAssembly } from './assembled-completion.ts'

const HEAD = { id: 'a', created: 1, model: 'm' }

function assembled(...chunks: object[]): unknown {
  const assembly = createAssembly()
  for (const chunk of chunks) assembly.add(Chunk.parse({ ...HEAD, ...chunk }), 0)
  return JSON.parse(assembly.completion() ?? 'null')
}

it('keeps what training needs of each choice: log-probabilities, ids and the policy', () => {
  const token = (text: string) => ({ token: text, logprob: -0.5, top_logprobs: [] })
  const choice = (index: number, text: string, members: object) => ({
    index,
    delta: { content: text },
    finish_reason: null,
    logprobs: { content: [token(text)], refusal: null },
    ...members,
  })
  const completion = assembled(
    { choices: [choice(0, 'a', { token_ids: [1], prompt_token_ids: [7, 8] })] },
    { choices: [choice(1, 'x', { token_ids: [2] })] },
    { choices: [choice(0, 'b', { token_ids: [3] })] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop', logprobs: null, policy: { step: 4 } }] },
    { usage: { prompt_tokens: 2 } },
  )
  expect(completion).toEqual({
    ...HEAD,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'ab' },
        finish_reason: 'stop',
        logprobs: { content: [token('a'), token('b')], refusal: null },
        token_ids: [1, 3],
        prompt_token_ids: [7, 8],
        policy: { step: 4 },
      },
      {
        index: 1,
        message: { role: 'assistant', content: 'x' },
        finish_reason: null,
        logprobs: { content: [token('x')], refusal: null },
        token_ids: [2],
      },
    ],
    usage: { prompt_tokens: 2 },
  })
})

it('joins the tokens of a text completion', () => {
  const choice = (text: string, at: number) => ({
    index: 0,
    text,
    logprobs: { tokens: [text], token_logprobs: [-1], top_logprobs: [null], text_offset: [at] },
  })
  expect(assembled({ choices: [choice('a', 0)] }, { choices: [choice('b', 1)] })).toMatchObject({
    object: 'text_completion',
    choices: [
      {
        text: 'ab',
        logprobs: {
          tokens: ['a', 'b'],
          token_logprobs: [-1, -1],
          top_logprobs: [null, null],
          text_offset: [0, 1],
        },
      },
    ],
  })
})

it('leaves out what training needs of an answer that is too long, and keeps its text and usage', () => {
  const assembly = createAssembly()
  const choice = { index: 0, delta: { content: 'a' } }
  for (let at = 0; at < 40; at++)
    assembly.add(Chunk.parse({ ...HEAD, choices: [{ ...choice, token_ids: [at] }] }), 1024 * 1024)
  assembly.count({ prompt_tokens: 1 })
  expect(JSON.parse(assembly.completion() ?? '')).toMatchObject({
    choices: [{ index: 0, message: { content: 'a'.repeat(40) }, finish_reason: null }],
    usage: { prompt_tokens: 1 },
  })
  expect(assembly.completion()).not.toContain('token_ids')
})

it('gives no object members of another prototype', () => {
  const hostile = JSON.parse(
    '{"choices":[{"index":0,"delta":{"content":"a"},"__proto__":{"stolen":1}}]}',
  ) as object
  assembled(hostile, hostile)
  expect('stolen' in {}).toBe(false)
})
