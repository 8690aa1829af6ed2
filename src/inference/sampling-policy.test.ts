import { describe, expect, it } from 'vitest'
import { JsonText } from '../json/lossless-json.ts'
import { ChatCompletionReq } from './chat-completions/wire.ts'
import { CompletionReq } from './completions/wire.ts'
import { samplingPolicy } from './sampling-policy.ts'

const written = (value: object) => new JsonText(JSON.stringify(value))

const tool = (strict?: boolean) => written({ type: 'function', function: { name: 'f', strict } })

const biases = (fields: object) =>
  samplingPolicy(ChatCompletionReq.parse({ messages: [], ...fields }), 3).biased_by

describe('samplingPolicy', () => {
  it('names the step that answered', () => {
    expect(samplingPolicy(ChatCompletionReq.parse({ messages: [] }), 3)).toEqual({ step: 3, biased_by: [] })
  })

  it('says the same of text completions', () => {
    const req = CompletionReq.parse({ prompt: 'x', top_p: 0.5 })
    expect(samplingPolicy(req, 3)).toEqual({ step: 3, biased_by: ['top_p'] })
  })

  it.each([
    {},
    { temperature: 1, top_p: 1, top_k: 0, min_p: 0, repetition_penalty: 1, logit_bias: {} },
    {
      temperature: null,
      top_p: null,
      top_k: -1,
      response_format: written({ type: 'text' }),
      tool_choice: 'auto',
    },
    { tool_choice: null, structured_outputs: null, response_format: null },
    { stop: 'x', max_tokens: 5, logprobs: true },
    { tools: [tool(), tool(false)] },
    { tools: [tool(true)], tool_choice: 'none', parallel_tool_calls: false },
    { tools: [tool()], parallel_tool_calls: true },
  ])('names nothing for %j', (fields) => {
    expect(biases(fields)).toEqual([])
  })

  it.each([
    [{ temperature: 0.7 }, 'temperature'],
    [{ top_p: 0.9 }, 'top_p'],
    [{ top_k: 5 }, 'top_k'],
    [{ min_p: 0.1 }, 'min_p'],
    [{ presence_penalty: 1 }, 'presence_penalty'],
    [{ logit_bias: { 5: 1 } }, 'logit_bias'],
    [{ thinking_token_budget: 0 }, 'thinking_token_budget'],
    [{ response_format: written({ type: 'json_object' }) }, 'structured_outputs'],
    [{ structured_outputs: { choice: ['a', 'b'] } }, 'structured_outputs'],
    [{ tools: [tool(), tool(true)] }, 'structured_outputs'],
    [{ tools: [tool()], parallel_tool_calls: false }, 'structured_outputs'],
    [{ tool_choice: 'required' }, 'structured_outputs'],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, 'structured_outputs'],
  ])('names %j', (fields, name) => {
    expect(biases(fields)).toEqual([name])
  })
})
