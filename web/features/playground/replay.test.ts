import { describe, expect, it } from 'vitest'
import type { Json } from '../../api/wire.ts'
import { replayOf } from './replay.ts'

const USER = { role: 'user', content: 'Hi' }

describe('replayOf', () => {
  it('takes over messages, tools and parameters, and names what is lost', () => {
    const replay = replayOf({
      id: 'c1',
      inputs: {
        model: 'gpt',
        messages: [
          { role: 'system', content: 'S' },
          USER,
          { role: 'user', content: [{ type: 'image_url' }] },
        ],
        temperature: 0.2,
        tools: [{ type: 'function' }],
        stream: true,
        self: '<Client>',
        logit_bias: { 5: 1 },
      },
      output: { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
      attributes: {},
    })
    expect(replay).toMatchObject({
      model: 'gpt',
      answer: 'Hello',
      settings: {
        system: 'S',
        parameters: { temperature: '0.2' },
        others: '{\n  "logit_bias": {\n    "5": 1\n  }\n}',
      },
    })
    expect(replay?.messages.map(({ content }) => content)).toEqual(['Hi', ''])
    expect(replay?.lost).toEqual(['self', 'image_url in message 3'])
  })

  it('takes over tool calls as clients record them, and says which it cannot', () => {
    const tool_calls = [
      { function: { name: 'add', arguments: { a: 1 } } },
      { name: 'now', args: {} },
      { id: 'x' },
    ]
    const messages = [USER, { role: 'assistant', content: null, tool_calls }]
    const replay = replayOf({ id: 'c1', inputs: { messages }, output: null, attributes: {} })
    expect(replay?.messages[1]?.tool_calls).toEqual([
      { type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
      { type: 'function', function: { name: 'now', arguments: '{}' } },
    ])
    expect(replay?.lost).toEqual(['a tool call in message 2'])
  })

  it('knows the step of a trajectory', () => {
    const trajectory = { model: 'sums', initial_policy_version: 4 }
    const replay = replayOf(
      { id: 'c1', inputs: { messages: [USER], tools: null }, output: null, attributes: { trajectory } },
      { entity: 'local', project: 'demo' },
    )
    expect(replay?.model).toBe('local/demo/sums:step4')
    expect(replay?.lost).toEqual(['sampling parameters: trajectories come without them'])
  })

  it('takes over texts of the Responses API, and nothing that would be another conversation', () => {
    const parameters = { type: 'object' }
    const inputs = {
      model: 'gpt',
      instructions: 'S',
      input: [
        { role: 'user', content: 'Q' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'R' }] },
      ],
      tools: [{ type: 'function', name: 'add', parameters }, { type: 'web_search' }],
    }
    const output = {
      output: [
        { type: 'web_search_call' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      ],
    }
    const replay = replayOf({ id: 'c1', inputs, output, attributes: {} })
    expect(replay).toMatchObject({
      model: 'gpt',
      answer: 'Hello',
      messages: [
        { role: 'user', content: 'Q' },
        { role: 'assistant', content: 'A' },
        { role: 'user', content: 'R' },
      ],
      settings: { system: 'S' },
      lost: ['built-in tools'],
    })
    expect(JSON.parse(replay?.settings.tools ?? '')).toEqual([
      { type: 'function', function: { name: 'add', parameters } },
    ])
    const messagesOf = (of: { [name: string]: Json }) =>
      replayOf({ id: 'c1', inputs: { model: 'gpt', ...of }, output, attributes: {} })?.messages
    expect(messagesOf({ input: 'Q' })).toEqual([{ role: 'user', content: 'Q' }])
    expect(messagesOf({ input: 'Q', previous_response_id: 'r' })).toBeUndefined()
    expect(messagesOf({ input: [{ type: 'item_reference', id: 'x' }] })).toBeUndefined()
    expect(messagesOf({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] })).toBeUndefined()
  })

  it('is nothing for embeddings, which are asked for by the same inputs', () => {
    const inputs = { model: 'm', input: 'Q' }
    const output = { object: 'list', data: [{ object: 'embedding', embedding: [1] }] }
    expect(replayOf({ id: 'c1', inputs, output, attributes: {} })).toBeUndefined()
  })

  it('is nothing for a call without messages', () => {
    expect(replayOf({ id: 'c1', inputs: { x: 1 }, output: 2, attributes: {} })).toBeUndefined()
  })
})
