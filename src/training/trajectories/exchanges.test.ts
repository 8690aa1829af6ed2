import { describe, expect, it } from 'vitest'
import { parseLossless, stringify } from '../../json/lossless-json.ts'
import { storedGroup } from './stored-group.ts'
import { TrajectoryGroup } from './wire.ts'

interface Stored {
  reward: number
  messages_and_choices: Record<string, unknown>[]
  additional_histories?: { messages_and_choices: Record<string, unknown>[] }[]
  [other: string]: unknown
}

function stored(trajectory: object): Stored {
  const text = JSON.stringify({ trajectories: [trajectory] })
  expect(TrajectoryGroup.safeParse(JSON.parse(text)).error).toBeUndefined()
  const group = JSON.parse(storedGroup(text, JSON.parse(text))) as { trajectories: [Stored] }
  // Stored groups are read in the format of older clients.
  expect(TrajectoryGroup.safeParse(group).error).toBeUndefined()
  return group.trajectories[0]
}

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const choice = (content: string, prompt_token_ids: number[], index = 0) => ({
  index,
  finish_reason: 'stop',
  message: { ...assistant(content), refusal: null, tool_calls: null },
  logprobs: { content: [{ token: 'token_id:3', logprob: -0.5 }] },
  prompt_token_ids,
  token_ids: [3],
})
const chat = (second: number, messages: object[], choices: object[], more: object = {}) => ({
  start_time: `2026-01-01T00:00:0${second}Z`,
  end_time: `2026-01-01T00:00:0${second}Z`,
  model: 'm',
  request: { model: 'm', messages, temperature: 0.5, ...more },
  response: { id: `c${second}`, choices, usage: { total_tokens: 2 } },
})

describe('a trajectory of exchanges', () => {
  it.each([
    ['2026-01-01T00:00:01Z', '2026-01-01T00:00:01.5Z'],
    ['2026-01-01T02:00:01+02:00', '2026-01-01T00:00:02Z'],
  ])('follows the time of its requests, as %s comes before %s', (start, later) => {
    const first = { ...chat(1, [user('hi')], [choice('a', [1, 2])]), start_time: start }
    const messages = [user('hi'), assistant('a'), user('more')]
    const second = { ...chat(2, messages, [choice('b', [1, 2, 3, 4])]), start_time: later }
    const { messages_and_choices, additional_histories } = stored({
      exchanges: { chat_completions: [second, first] },
    })
    expect([messages_and_choices.length, additional_histories]).toEqual([4, []])
  })

  it('is one history where each request repeats the one before, in any order', () => {
    const first = chat(1, [user('hi')], [choice('a', [1, 2])])
    const second = chat(2, [user('hi'), assistant('a'), user('more')], [choice('b', [1, 2, 3, 4])])
    const { messages_and_choices, additional_histories, exchanges, reward } = stored({
      reward: 1,
      exchanges: { chat_completions: [second, first] },
    })
    expect(messages_and_choices).toMatchObject([
      user('hi'),
      { ...choice('a', [1, 2]), exchange: { request: { temperature: 0.5 }, response: { id: 'c1' } } },
      user('more'),
      choice('b', [1, 2, 3, 4]),
    ])
    expect([additional_histories, exchanges, reward]).toEqual([[], undefined, 1])
  })

  it('has a history for each answer of a request, and goes on with the longest that was repeated', () => {
    const begin = chat(1, [user('hi')], [choice('a', [1], 0), choice('b', [1], 1)])
    const onB = chat(2, [user('hi'), assistant('b'), user('x')], [choice('c', [1, 3, 5])])
    const other = chat(3, [user('else')], [choice('d', [9])], { tools: [{ type: 'function' }] })
    const { messages_and_choices, additional_histories } = stored({
      exchanges: { chat_completions: [begin, onB, other] },
    })
    const said = [
      messages_and_choices,
      ...(additional_histories ?? []).map((history) => history.messages_and_choices),
    ]
    expect(said.map((elements) => elements.length)).toEqual([2, 4, 2])
    expect(
      said[1]?.map(({ message, content }) => (message as { content?: string })?.content ?? content),
    ).toEqual(['hi', 'b', 'x', 'c'])
  })

  it('takes ids that the reply carries once for all of its choices', () => {
    const { prompt_token_ids, ...plain } = choice('a', [1, 2])
    const exchange = chat(1, [user('hi')], [plain])
    const whole = { ...exchange, response: { ...exchange.response, prompt_token_ids } }
    expect(stored({ exchanges: { chat_completions: [whole] } }).messages_and_choices[1]).toMatchObject({
      prompt_token_ids: [1, 2],
    })
  })

  it('reads text completions, whose tokens are lists side by side', () => {
    const completion = {
      request: { model: 'm', prompt: [1, 2] },
      response: {
        choices: [
          {
            index: 0,
            text: 'a',
            finish_reason: 'stop',
            token_ids: [3],
            logprobs: { tokens: ['a'], token_logprobs: [-0.25] },
          },
        ],
      },
    }
    expect(stored({ exchanges: { completions: [completion] } }).messages_and_choices).toMatchObject([
      { role: 'user', content: [1, 2] },
      {
        message: assistant('a'),
        prompt_token_ids: [1, 2],
        token_ids: [3],
        logprobs: { content: [{ token: 'a', logprob: -0.25 }] },
        text_completion: true,
      },
    ])
    const two = { request: { prompt: ['x', 'y'] }, response: { choices: [{ text: 'a' }, { text: 'b' }] } }
    expect(stored({ exchanges: { completions: [two] } }).additional_histories).toHaveLength(1)
  })

  it.each([
    ['the ids of its reply', { prompt: 'x y', echo: true }, { prompt_token_ids: [1, 2] }, ['c', 'd']],
    ['ids as its prompt', { prompt: [1, 2, 5], echo: true }, {}, ['d']],
    ['max_tokens=0', { prompt: 'x y', echo: true }, { prompt_token_ids: [1, 2, 5, 6], token_ids: [3] }, []],
    ['echo=false', { prompt: 'x', echo: false }, { prompt_token_ids: [1] }, ['a', 'b', 'c', 'd']],
  ])('keeps of a text completion with %s the tokens that were sampled', (_with, request, ids, expected) => {
    const logprobs = { tokens: ['a', 'b', 'c', 'd'], token_logprobs: [null, -1, -2, -3] }
    const response = { choices: [{ text: 'abcd', logprobs, ...ids }] }
    const [, choice] = stored({ exchanges: { completions: [{ request, response }] } }).messages_and_choices
    const content = expected.map((token) => expect.objectContaining({ token }))
    expect(choice?.['logprobs']).toEqual({ content })
  })

  it('reads responses and messages with their tool calls', () => {
    const response = {
      request: {
        model: 'm',
        instructions: 'be kind',
        input: [user('hi'), { type: 'function_call_output', call_id: '1', output: '2' }],
      },
      response: {
        status: 'completed',
        output: [
          {
            type: 'message',
            content: [{ type: 'output_text', text: 'a', logprobs: [{ token: 'a', logprob: -1 }] }],
          },
          { type: 'function_call', call_id: '2', name: 'add', arguments: '{}' },
        ],
      },
    }
    expect(stored({ exchanges: { responses: [response] } }).messages_and_choices).toMatchObject([
      { role: 'system', content: 'be kind' },
      user('hi'),
      { role: 'tool', tool_call_id: '1', content: '2' },
      {
        finish_reason: 'completed',
        message: { content: 'a', tool_calls: [{ id: '2', function: { name: 'add', arguments: '{}' } }] },
        logprobs: { content: [{ token: 'a' }] },
      },
    ])
    const message = {
      request: { system: 'be kind', messages: [user('hi')] },
      response: {
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'a' },
          { type: 'tool_use', id: '1', name: 'add', input: { x: 1 } },
        ],
      },
    }
    expect(stored({ exchanges: { messages: [message] } }).messages_and_choices).toMatchObject([
      { role: 'system' },
      user('hi'),
      { message: { content: 'a', tool_calls: [{ function: { arguments: { x: 1 } } }] }, logprobs: null },
    ])
  })

  it('keeps numbers as they were written', () => {
    const text = `{"trajectories":[{"reward":1.0,"exchanges":{"chat_completions":[${JSON.stringify(
      chat(1, [user('hi')], [choice('a', [1])]),
    ).replace('0.5', '1.0')}]},"metadata":{"id":12345678901234567890}}]}`
    const group = storedGroup(text, JSON.parse(text))
    expect(group).toContain('"reward":1.0')
    expect(group).toContain('12345678901234567890')
    expect(group).toContain('"temperature":1.0')
    expect(stringify(parseLossless(group))).toBe(group)
  })

  it('is refused beside messages and choices', () => {
    const both = {
      messages_and_choices: [user('hi')],
      exchanges: { chat_completions: [chat(1, [user('hi')], [])] },
    }
    expect(TrajectoryGroup.safeParse({ trajectories: [both] }).error?.issues[0]?.message).toContain(
      'either exchanges',
    )
  })
})

describe('a trajectory without fields that have a default', () => {
  it('has a reward of 0 and no messages', () => {
    expect(stored({})).toEqual({ reward: 0, messages_and_choices: [] })
  })
})
