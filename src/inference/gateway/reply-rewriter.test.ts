import { describe, expect, it } from 'vitest'
import { createReplyRewriter } from './reply-rewriter.ts'

const FIELDS = { model: 'e/p/"name"', engineModel: 'digest', choice: { policy: { step: 3 } } }
const { rewrite, renamed } = createReplyRewriter(FIELDS, {
  usageChunk: 'drop',
  fingerprint: { text: undefined },
})
const chunk = (fields: object): string =>
  JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'digest', ...fields })
const choices = (delta: object, finish_reason: string | null = null) => [
  { index: 0, delta, logprobs: null, finish_reason },
]

describe('createReplyRewriter', () => {
  it('names the model as the client did, and does not change the rest of a token', () => {
    const text = chunk({ choices: choices({ content: 'say "model":"digest" and "finish_reason":"stop"' }) })
    const expected = text.replace('"model":"digest"', '"model":"e/p/\\"name\\""')
    expect(renamed(Buffer.from(`data: ${text}\n\n`))?.toString()).toBe(`data: ${expected}\n\n`)
    expect(rewrite(text)).toMatchObject({ text: expected, usage: undefined })
  })

  it('leaves events to be parsed in which more may change', () => {
    const token = `data: ${chunk({ choices: choices({ content: 'a' }) })}\n\n`
    for (const event of [
      `data: ${chunk({ choices: choices({}, 'stop') })}\n\n`,
      `data: ${chunk({ choices: choices({ reasoning: 'hm' }) })}\n\n`,
      `data: ${chunk({ choices: [], usage: {} })}\n\n`,
      token.slice(0, -1),
      token + token,
      'data: [DONE]\n\n',
    ]) {
      expect(renamed(Buffer.from(event)), event).toBeUndefined()
    }
  })

  it('fields the end of a choice, and sends reasoning under both names', () => {
    const ended = JSON.parse(rewrite(chunk({ choices: choices({}, 'stop') })).text ?? '')
    expect(ended.choices).toEqual([{ ...choices({}, 'stop')[0], policy: { step: 3 } }])
    const thinking = JSON.parse(rewrite(chunk({ choices: choices({ reasoning: 'hm' }) })).text ?? '')
    expect(thinking.choices[0].delta).toEqual({ reasoning: 'hm', reasoning_content: 'hm' })
  })

  it('keeps logprobs digit by digit', () => {
    const text = chunk({ choices: choices({}, 'stop') }).replace(
      '"logprobs":null',
      '"logprobs":{"content":[-0.10]}',
    )
    expect(rewrite(text).text).toContain('{"content":[-0.10]}')
  })

  it('drops the chunk of usage unless the client requested it, and passes errors on', () => {
    const usage = { prompt_tokens: 7, total_tokens: 9, completion_tokens: 2 }
    const counted = { prompt_tokens: 7, cached_tokens: 0, completion_tokens: 2, reasoning_tokens: 0 }
    const last = chunk({ choices: [], usage })
    expect(rewrite(last)).toEqual({ text: undefined, usage: counted, choices: 0 })
    const keep = createReplyRewriter(FIELDS, { usageChunk: 'keep', fingerprint: { text: undefined } })
    expect(JSON.parse(keep.rewrite(last).text ?? '')).toMatchObject({ model: FIELDS.model, usage })
    const error = '{"error":{"message":"m","type":"t","param":null,"code":500}}'
    expect(rewrite(error)).toEqual({ text: error, usage: undefined, choices: 0 })
  })

  it("adds the engine's fingerprint at the end of a choice where the chunk that has it is dropped", () => {
    const fingerprint = { text: undefined }
    const usage = { prompt_tokens: 1, total_tokens: 1 }
    const first = createReplyRewriter(FIELDS, { usageChunk: 'drop', fingerprint })
    first.rewrite(chunk({ choices: [], usage, system_fingerprint: 'vllm-1' }))
    const ended = (usageChunk: 'keep' | 'drop'): object =>
      JSON.parse(
        createReplyRewriter(FIELDS, { usageChunk, fingerprint }).rewrite(
          chunk({ choices: choices({}, 'stop') }),
        ).text ?? '',
      )
    expect(ended('drop')).toMatchObject({ system_fingerprint: 'vllm-1' })
    expect(ended('keep')).not.toHaveProperty('system_fingerprint')
  })
})
