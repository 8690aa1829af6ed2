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

describe('answers of a completion', () => {
  const choice = (index: number, content: string) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: 'stop',
  })

  it('are all of its choices, in their order', () => {
    const chat = chatOf({ inputs: ASKED, output: { choices: [choice(1, 'Two.'), choice(0, 'One.')] } })
    expect(chat?.answer['content']).toBe('One.')
    expect(chat?.others).toEqual([
      { answer: { role: 'assistant', content: 'Two.' }, choice: choice(1, 'Two.'), isCutOff: false },
    ])
  })

  it('count where they say nothing: it may be one of these that was judged', () => {
    const silent = { index: 1, message: { role: 'assistant', content: null, refusal: 'no' } }
    expect(chatOf({ inputs: ASKED, output: { choices: [choice(0, 'One.'), silent] } })?.others).toHaveLength(
      1,
    )
    expect(answerOf({ choices: [{ ...silent, index: 0 }, choice(1, 'Two.')] })).toBeUndefined()
  })

  it('are no later turns of a history', () => {
    const [answer, later] = ['One.', 'Two.'].map((content) => ({ role: 'assistant', content }))
    const othersOf = (output: unknown) => chatOf({ inputs: ASKED, output })?.others
    expect(othersOf([answer, { role: 'tool', content: 'r' }, later])).toEqual([])
    expect(othersOf([answer, later])).toHaveLength(1)
    for (const history of [[...ASKED.messages, answer], [{ x: 1 }, answer], ['s', answer], [[answer]]])
      expect(answerOf(history)).toBeUndefined()
  })

  it('are read from the last chunk of a stream that was stored with all of its text', () => {
    const output = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Blue.' } }] }
    expect(answerOf(output)).toEqual({ role: 'assistant', content: 'Blue.' })
  })
})

describe('messages of Anthropic', () => {
  const text = (said: string) => ({ type: 'text', text: said, citations: null })
  const call = { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } }
  const called = { id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
  const reply = (content: object[], stop_reason = 'end_turn') => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content, stop_reason },
    stop_sequence: null,
  })

  it('are a conversation, with its system text, thoughts, tools and their results', () => {
    const inputs = {
      ...{ self: 'client', model: 'claude', max_tokens: 9 },
      system: [{ ...text('Be short.'), cache_control: { type: 'ephemeral' } }],
      tools: [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'One and one?' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Add.', signature: 'x' }, call] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't1', content: [text('2')] }, text('Well?')],
        },
      ],
    }
    expect(chatOf({ inputs, output: reply([text('It is '), text('two.')]) })).toEqual({
      prompt: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'One and one?' },
        { role: 'assistant', content: '', reasoning: 'Add.', tool_calls: [called] },
        { role: 'tool', tool_call_id: 't1', content: '2' },
        { role: 'user', content: 'Well?' },
      ],
      answer: { role: 'assistant', content: 'It is two.' },
      choice: undefined,
      isCutOff: false,
      others: [],
      tools: [
        {
          type: 'function',
          function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } },
        },
      ],
    })
  })

  it('have answers that call tools, and answers that a limit cut off', () => {
    expect(answerOf(reply([call], 'tool_use'))).toEqual({
      role: 'assistant',
      content: '',
      tool_calls: [called],
    })
    expect(chatOf({ inputs: ASKED, output: reply([text('It is')], 'max_tokens') })?.isCutOff).toBe(true)
  })

  it('are none where the answer has a part that is neither a text nor a call', () => {
    expect(answerOf(reply([text('See.'), { type: 'server_tool_use', id: 's', input: {} }]))).toBeUndefined()
  })
})

describe("responses of OpenAI's Responses API", () => {
  const said = (text: string) => ({
    ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text, annotations: [] }],
  })
  const call = { type: 'function_call', id: 'f', call_id: 'c1', name: 'add', arguments: '{"a":1}' }
  const called = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
  const response = (output: object[], status = 'completed') => ({ object: 'response', status, output })

  it('are conversations, of a text or of items', () => {
    const inputs = { model: 'm', input: 'Why?', instructions: 'Be short.', previous_response_id: null }
    expect(chatOf({ inputs, output: response([{ type: 'reasoning', summary: [] }, said('So.')]) })).toEqual({
      prompt: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Why?' },
      ],
      answer: { role: 'assistant', content: 'So.' },
      choice: undefined,
      isCutOff: false,
      others: [],
      tools: undefined,
    })
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'One and one?' }] },
      call,
      { type: 'function_call_output', call_id: 'c1', output: '2' },
    ]
    expect(chatOf({ inputs: { input }, output: response([said('Sure: '), call]) })).toMatchObject({
      prompt: [
        { role: 'user', content: 'One and one?' },
        { role: 'assistant', content: '', tool_calls: [called] },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
      ],
      answer: { role: 'assistant', content: 'Sure: ', tool_calls: [called] },
    })
  })

  it('are none where the provider has a part of the conversation, or of the answer', () => {
    const output = response([said('So.')])
    expect(chatOf({ inputs: { input: 'Why?', previous_response_id: 'r' }, output })).toBeUndefined()
    const searched = response([{ type: 'web_search_call', id: 'w' }, said('So.')])
    expect(chatOf({ inputs: { input: 'Why?' }, output: searched })).toBeUndefined()
    expect(chatOf({ inputs: { input: 'Why?' }, output: response([]) })).toBeUndefined()
  })

  it('are cut off where they are incomplete', () => {
    const output = response([said('So')], 'incomplete')
    expect(chatOf({ inputs: { input: 'Why?' }, output })?.isCutOff).toBe(true)
  })
})

describe("a chat's request and choices", () => {
  it.each(['system', 'instructions', 'system_prompt', 'system_message'])(
    'has the text of %s first',
    (name) => {
      const output = { role: 'assistant', content: 'So.' }
      expect(chatOf({ inputs: { ...ASKED, [name]: 'Be a pirate.' }, output })?.prompt).toEqual([
        { role: 'system', content: 'Be a pirate.' },
        ...ASKED.messages,
      ])
    },
  )

  it('answers with the first choice by its number, cut off or not', () => {
    const choice = (index: number, content: string, finish_reason: string) => ({
      ...{ index, finish_reason },
      message: { role: 'assistant', content },
    })
    const output = { choices: [choice(1, 'Second.', 'stop'), choice(0, 'Fir', 'length')] }
    expect(chatOf({ inputs: ASKED, output })).toMatchObject({ answer: { content: 'Fir' }, isCutOff: true })
  })

  it('keeps lists of texts and images of the user as they are', () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:' } },
    ]
    const inputs = { messages: [{ role: 'user', content }] }
    expect(chatOf({ inputs, output: { role: 'assistant', content: 'A cat.' } })?.prompt).toEqual(
      inputs.messages,
    )
  })
})
