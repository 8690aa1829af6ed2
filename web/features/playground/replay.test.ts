import { describe, expect, it } from 'vitest'
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

  it('is nothing for a call without messages', () => {
    expect(replayOf({ id: 'c1', inputs: { x: 1 }, output: 2, attributes: {} })).toBeUndefined()
  })
})
