import { describe, expect, it } from 'vitest'
import { conversationOf } from './messages.ts'

const text = (value: string) => ({ kind: 'text', text: value })

describe('conversationOf', () => {
  it('reads chat completions, with tools and reasoning', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
    const found = conversationOf({
      inputs: {
        self: 'ref',
        model: 'm',
        messages: [
          { role: 'system', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'image_url', image_url: { url: 'data:' } },
            ],
          },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'red' },
        ],
      },
      output: {
        choices: [{ message: { role: 'assistant', reasoning_content: 'hm', content: 'It is red.' } }],
      },
    })
    expect(found).toEqual({
      answerAt: 4,
      messages: [
        { role: 'system', parts: [text('Be kind.')] },
        {
          role: 'user',
          parts: [text('Hi'), { kind: 'media', value: { type: 'image_url', image_url: { url: 'data:' } } }],
        },
        { role: 'assistant', parts: [{ kind: 'call', id: 'c1', name: 'look', input: { at: 1 } }] },
        { role: 'tool', parts: [{ kind: 'result', id: 'c1', value: 'red' }] },
        { role: 'assistant', parts: [{ kind: 'reasoning', text: 'hm' }, text('It is red.')] },
      ],
    })
  })

  it('reads the Responses API', () => {
    const found = conversationOf({
      inputs: { model: 'm', instructions: 'Short.', input: 'Hi' },
      output: {
        output: [
          { type: 'reasoning', summary: [{ text: 'think' }] },
          { type: 'function_call', call_id: 'f', name: 'add', arguments: '[1]' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
        ],
      },
    })
    expect(found?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'assistant',
      'assistant',
    ])
    expect(found?.messages[3]?.parts).toEqual([{ kind: 'call', id: 'f', name: 'add', input: [1] }])
  })

  it("reads Anthropic's blocks and Gemini's parts", () => {
    const anthropic = conversationOf({
      inputs: { system: 'S', messages: [{ role: 'user', content: 'Q' }] },
      output: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'T' },
          { type: 'tool_use', id: 'u', name: 'get', input: { a: 1 } },
        ],
      },
    })
    expect(anthropic?.messages.at(-1)?.parts).toEqual([
      { kind: 'reasoning', text: 'T' },
      { kind: 'call', id: 'u', name: 'get', input: { a: 1 } },
    ])
    const gemini = conversationOf({
      inputs: { contents: [{ role: 'user', parts: [{ text: 'Q' }] }] },
      output: { candidates: [{ content: { role: 'model', parts: [{ text: 'A' }] } }] },
    })
    expect(gemini?.messages).toEqual([
      { role: 'user', parts: [text('Q')] },
      { role: 'assistant', parts: [text('A')] },
    ])
  })

  it('reads what comes by OpenTelemetry', () => {
    const found = conversationOf({
      inputs: { 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Q' }] }] },
      output: {
        'gen_ai.output.messages': [
          { role: 'assistant', parts: [{ type: 'tool_call', id: 't', name: 'n', arguments: { x: 1 } }] },
        ],
      },
    })
    expect(found?.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    const inference = conversationOf({
      inputs: { 'input.value': { messages: [{ role: 'user', content: 'Q' }] } },
      output: { 'output.value': { choices: [{ message: { role: 'assistant', content: 'A' } }] } },
    })
    expect(inference?.messages.map(({ parts }) => parts)).toEqual([[text('Q')], [text('A')]])
  })

  it('keeps items that are no messages where they stand among messages', () => {
    const search = { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'weather' } }
    const reference = { type: 'item_reference', id: 'x' }
    const found = conversationOf({
      inputs: { model: 'm', input: [{ role: 'user', content: 'Q' }, reference, null, 'plain'] },
      output: { output: [search, { type: 'message', role: 'assistant', content: 'A' }] },
    })
    expect(found?.messages).toEqual([
      { role: 'user', parts: [text('Q')] },
      { role: 'item_reference', parts: [{ kind: 'value', value: reference }] },
      { role: 'item', parts: [{ kind: 'value', value: null }] },
      { role: 'item', parts: [text('plain')] },
      { role: 'web_search_call', parts: [{ kind: 'value', value: search }] },
      { role: 'assistant', parts: [text('A')] },
    ])
    expect(found?.answerAt).toBe(4)
    expect(conversationOf({ inputs: {}, output: { output: [search, null] } })).toBeUndefined()
  })

  it('says nothing twice, and nothing of what is no conversation', () => {
    const messages = [{ role: 'user', content: 'Q' }]
    const repeated = conversationOf({
      inputs: { messages },
      output: { messages: [...messages, { role: 'assistant', content: 'A' }] },
    })
    expect(repeated?.messages).toHaveLength(2)
    expect(conversationOf({ inputs: { messages }, output: 'A' })?.messages).toHaveLength(2)
    expect(conversationOf({ inputs: { question: 'Q', input: 'x' }, output: { answer: 'A' } })).toBeUndefined()
    expect(conversationOf({ inputs: { messages: [1, 2] }, output: [{ name: 'x' }] })).toBeUndefined()
    expect(conversationOf({ inputs: {}, output: { content: null, output: {} } })).toBeUndefined()
  })
})
