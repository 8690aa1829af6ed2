import { describe, expect, it } from 'vitest'
import { createReplyRewriter } from './reply-rewriter.ts'

const MARKS = { model: 'name', engineModel: 'digest', choice: { policy: { step: 3 } } }

function rewriter(isAsked: boolean, more: object = {}) {
  const options = { usageChunk: 'drop', fingerprint: { text: undefined } } as const
  return createReplyRewriter({ ...MARKS, promptIds: { isAsked }, ...more }, options)
}

function parsed(text: string | undefined) {
  return JSON.parse(text ?? '')
}

const token = (index: number, logprob: string): string =>
  `{"index":${index},"delta":{"content":"a"},"logprobs":{"content":[{"token":"token_id:7","logprob":${logprob}}]},"finish_reason":null,"token_ids":[7]}`
const chunk = (choices: string, more = ''): string =>
  `{"id":"c","model":"digest","choices":[${choices}]${more}}`
const first = (index: number): string =>
  chunk(
    `{"index":${index},"delta":{"role":"assistant","content":""},"finish_reason":null}`,
    ',"prompt_token_ids":[1,2]',
  )

describe('ids of prompts', () => {
  it('stand on each choice of a whole reply, digit by digit', () => {
    const choices = [0, 1].map(
      (index) =>
        `{"index":${index},"message":{},"logprobs":{"content":[]},"finish_reason":"stop","token_ids":[3]}`,
    )
    const { text } = rewriter(false).rewrite(chunk(choices.join(','), ',"prompt_token_ids":[1, 2]'))
    expect(text).toContain('"prompt_token_ids":[1, 2]')
    expect(parsed(text)).not.toHaveProperty('prompt_token_ids')
    expect(parsed(text).choices).toMatchObject([
      { token_ids: [3], prompt_token_ids: [1, 2], policy: { step: 3 } },
      { token_ids: [3], prompt_token_ids: [1, 2], policy: { step: 3 } },
    ])
  })

  it('stay at the top of a reply whose client requested them', () => {
    expect(parsed(rewriter(true).rewrite(first(0)).text)).toMatchObject({
      prompt_token_ids: [1, 2],
      choices: [{ prompt_token_ids: [1, 2] }],
    })
  })

  it('stand on the first chunk of each choice of a stream, and on its first token alone', () => {
    const { rewrite, renamed } = rewriter(false)
    const event = (text: string): Buffer => Buffer.from(`data: ${text}\n\n`)
    expect(renamed(event(first(0)))).toBeUndefined()
    expect(parsed(rewrite(first(0)).text).choices).toMatchObject([{ prompt_token_ids: [1, 2] }])
    rewrite(first(1))
    expect(renamed(event(chunk(token(0, '-0.50'))))).toBeUndefined()
    const text = rewrite(chunk(token(0, '-0.50'))).text ?? ''
    expect(text).toContain('-0.50')
    expect(parsed(text).choices[0].logprobs.content).toEqual([
      { prompt_token_ids: [1, 2], token: 'token_id:7', logprob: -0.5 },
    ])
    expect(parsed(rewrite(chunk(token(0, '-1'))).text).choices[0].logprobs.content[0]).not.toHaveProperty(
      'prompt_token_ids',
    )
    expect(parsed(rewrite(chunk(token(1, '-1'))).text).choices[0].logprobs.content[0]).toHaveProperty(
      'prompt_token_ids',
    )
    expect(renamed(event(chunk(token(0, '-2'))))?.toString()).toContain('"model":"name"')
  })

  it('cost no parsing where the reply is not trained on', () => {
    const { renamed } = createReplyRewriter(MARKS, { usageChunk: 'drop', fingerprint: { text: undefined } })
    expect(renamed(Buffer.from(`data: ${chunk(token(0, '-1'))}\n\n`))).toBeDefined()
  })

  it('come with the reasoning, which is left out for a client that excludes it', () => {
    const text = chunk('{"index":0,"delta":{"reasoning":"hm","content":"a"},"finish_reason":null}')
    expect(parsed(rewriter(false, { dropsReasoning: true }).rewrite(text).text).choices[0].delta).toEqual({
      content: 'a',
    })
  })
})
