import { describe, expect, it } from 'vitest'
import { type Fields, useTestServer } from '../testing.ts'
import { exportSpans, spanOf } from '../trace/otlp/test-spans.ts'
import { finishedCall, writeDeepCalls } from '../trace/test-calls.ts'
import { chatCall, useCollecting } from './test-collecting.ts'

const server = useTestServer()
const { post, collect, write, rowsOf, objectsIn } = useCollecting(server)

const FROM = { calls: { filter: { trace_roots_only: true } } }
const INTO = { dataset: { name: 'rows' } }

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

/** The one conversation that is made of some calls, or the reason why there is none. */
async function read(calls: readonly Fields[], fields: Fields = {}): Promise<Fields | string> {
  const project = server.newProject()
  await write(project, calls)
  return outcome(project, fields)
}

async function outcome(project: string, fields: Fields = {}): Promise<Fields | string> {
  const response = await post(project, { from: FROM, into: INTO, ...fields })
  if (response.status !== 200) return response.text()
  const { dataset_ref } = (await response.json()) as { dataset_ref: string }
  const [row, ...others] = await rowsOf(project, dataset_ref)
  expect(others).toEqual([])
  const { call: _, ...conversation } = row ?? {}
  return conversation
}

describe('POST /v2/{entity}/{project}/collect of conversations', () => {
  it('a chat call of the shape of OpenAI, with its tools and tool calls', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"q": 1}' } }]
    const asked = [
      { role: 'system', content: 'short', name: null },
      user('see'),
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: 'c1', content: 'r' },
    ]
    const message = { role: 'assistant', content: null, tool_calls, refusal: null, annotations: [] }
    const call = chatCall('', '', {
      inputs: { messages: asked, tools },
      output: { choices: [{ message }] },
    })
    const plain = [
      { role: 'system', content: 'short' },
      user('see'),
      { role: 'assistant', tool_calls },
      asked[3],
    ]
    expect(await read([call])).toEqual({
      messages: [...plain, { role: 'assistant', content: '', tool_calls }],
      tools,
    })
  })

  it('a span of the conventions for generative AI, with parts', async () => {
    const project = server.newProject()
    const input = [
      { role: 'user', parts: [{ type: 'text', content: 'weather?' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'look', arguments: { at: 'here' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response: 'rain' }] },
    ]
    const output = [
      { role: 'assistant', parts: [{ type: 'text', content: 'It rains' }], finish_reason: 'stop' },
    ]
    const definitions = [{ type: 'function', name: 'look', parameters: {} }]
    const attributes = {
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'be brief' }]),
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify(output),
      'gen_ai.tool.definitions': JSON.stringify(definitions),
    }
    await exportSpans(server, project, spanOf({ attributes }))
    const fn = { name: 'look', arguments: '{"at":"here"}' }
    expect(await outcome(project)).toEqual({
      messages: [
        { role: 'system', content: 'be brief' },
        user('weather?'),
        { role: 'assistant', content: '', tool_calls: [{ id: '1', type: 'function', function: fn }] },
        { role: 'tool', tool_call_id: '1', content: 'rain' },
        assistant('It rains'),
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
    })
  })

  it('a span whose messages are numbered attributes, or JSON under input.value', async () => {
    const numbered = {
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'a',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'b',
    }
    const values = {
      'input.value': JSON.stringify({ messages: [user('a')], model: 'm' }),
      'output.value': JSON.stringify({ choices: [{ message: assistant('b') }] }),
    }
    for (const attributes of [numbered, values]) {
      const project = server.newProject()
      await exportSpans(server, project, spanOf({ attributes }))
      expect(await outcome(project)).toEqual({ messages: [user('a'), assistant('b')] })
    }
  })

  it('the one call of a model below, at any depth, through any libraries', async () => {
    const root = finishedCall({ inputs: { question: 'a' }, output: { long: 'story' } })
    const under = (parent_id: string) => ({ trace_id: root['trace_id'], parent_id })
    const middle = finishedCall(under(root.id))
    const outer = chatCall('full prompt', 'text', under(middle.id))
    const inner = chatCall('full prompt', 'text', under(outer.id))
    const failed = chatCall('full prompt', 'text', { ...under(middle.id), exception: 'timeout' })
    expect(await read([root, middle, failed, outer, inner])).toEqual({
      messages: [user('full prompt'), assistant('text')],
    })
    const second = chatCall('other', 'text', under(root.id))
    const several = [root, middle, outer, second].map((call) => ({ ...call }))
    expect(await read(several)).toContain('has several calls of models below it')
    const messages = { prompt: 'inputs.question', answer: 'output.long', system: 'be brief' }
    expect(await read(several, { messages })).toEqual({
      messages: [{ role: 'system', content: 'be brief' }, user('a'), assistant('story')],
    })
  })

  it('one text in and one text out, and no call for which that would be a guess', async () => {
    const whole = { messages: [user('q'), assistant('a')] }
    const call = (inputs: Fields, output: unknown) => [finishedCall({ inputs, output })]
    expect(await read(call({ self: 'weave:///a/b/object/c:1', question: 'q', n: 3 }, 'a'))).toEqual(whole)
    expect(await read(call({ history: [user('q')] }, assistant('a')))).toEqual(whole)
    expect(await read(call({ question: 'q', context: 'c' }, 'a'))).toContain('has several inputs')
    expect(await read(call({ n: 1 }, 'a'))).toContain('has no text among its inputs')
    expect(await read(call({ question: 'q' }, { answer: 'a' }))).toContain('is no conversation')
    expect(await read(call({ question: 'q' }, null))).toContain('is no conversation')
  })

  it('400 for messages at paths that lead nowhere, or to neither texts nor messages', async () => {
    const call = [finishedCall({ inputs: { a: 'q', n: 1 }, output: { text: 'a' } })]
    const paths = (prompt: string, answer: string) => ({ messages: { prompt, answer } })
    expect(await read(call, paths('inputs.a', 'output.text'))).toEqual({
      messages: [user('q'), assistant('a')],
    })
    expect(await read(call, paths('inputs.b', 'output.text'))).toContain('has nothing at inputs.b')
    expect(await read(call, paths('inputs.a', 'output.c.0'))).toContain('has nothing at output.c.0')
    expect(await read(call, paths('inputs.n', 'output.text'))).toContain('neither texts nor messages')
  })
})

describe('POST /v2/{entity}/{project}/collect into dataset', () => {
  it('200 with exactly the requested columns, as the client wrote them, and the call', async () => {
    const project = server.newProject()
    const call = finishedCall({
      inputs: { n: 1, 'a.b': [{ c: 'deep' }] },
      output: 'x',
      attributes: { t: true },
    })
    await write(project, [call, finishedCall({ inputs: {}, output: 'y' })])
    const columns = { n: 'inputs.n', deep: 'inputs.a\\.b.0.c', all: 'output', t: 'attributes.t' }
    const reply = await collect(project, { from: FROM, into: { dataset: { name: 'My rows', columns } } })
    expect(reply.dataset_ref).toContain('/object/my_rows:')
    expect(await rowsOf(project, reply.dataset_ref)).toEqual([
      { n: 1, deep: 'deep', all: 'x', t: true, call: `weave:///${project}/call/${call.id}` },
    ])
    expect(reply.left_out).toMatchObject([{ reason: 'has nothing at inputs.n', count: 1 }])
  })

  it('400 for parts that do not go together, and nothing is written', async () => {
    const project = server.newProject()
    await write(project, [chatCall('a', 'b')])
    const messages = { prompt: 'inputs.a', answer: 'output' }
    const wrong = [
      { from: FROM, into: INTO, where: { min_score: 1 } },
      { from: FROM, into: INTO, score: { scorer: 'exact' } },
      { from: FROM, into: { dataset: { name: 'x', columns: { a: 'output' } } }, messages },
    ]
    for (const body of wrong) expect((await post(project, body)).status, JSON.stringify(body)).toBe(400)
    expect(await objectsIn(project)).toBe(0)
  })

  it('422 for no source or several, no target or several, and invalid paths', async () => {
    const project = server.newProject()
    const columns = (path: string) => ({ dataset: { name: 'x', columns: { a: path } } })
    const wrong = [
      { into: INTO },
      { from: {}, into: INTO },
      { from: { ...FROM, annotation_queue: { queue_id: 'q' } }, into: INTO },
      { from: { calls: { limit: 0 } }, into: INTO },
      { from: { calls: { filter: { op_name: ['x'] } } }, into: INTO },
      { from: { calls: { limit: 50_001 } }, into: INTO },
      { from: FROM, into: {} },
      { from: FROM, into: { ...INTO, sft: { name: 'x' } } },
      { from: FROM, into: columns('nothing.a') },
      { from: FROM, into: columns('inputs..a') },
      { from: FROM, into: { dataset: { name: 'x', columns: { call: 'inputs.a' } } } },
      { from: FROM, into: INTO, score: { feedback_type: 'x' } },
    ]
    for (const body of wrong) expect((await post(project, body)).status, JSON.stringify(body)).toBe(422)
  })
})

describe('POST /v2/{entity}/{project}/collect of a request with several answers', () => {
  const output = {
    choices: ['one', 'two'].map((said, index) => ({
      index,
      finish_reason: 'stop',
      message: assistant(said),
    })),
  }

  function belowAgent(returned: unknown): Fields[] {
    const agent = finishedCall({ op_name: 'agent', inputs: { question: 'q' }, output: returned })
    const family = { trace_id: agent['trace_id'], parent_id: agent.id }
    return [agent, chatCall('asked', '', { ...family, output })]
  }

  it('has the answer that the call above returned', async () => {
    for (const [returned, said] of [
      ['two', 'two'],
      [assistant('one'), 'one'],
    ])
      expect(await read(belowAgent(returned))).toEqual({ messages: [user('asked'), assistant(String(said))] })
  })

  it('has none where it is not certain which one was judged', async () => {
    expect(await read(belowAgent('three'))).toContain('has several answers of a model below it')
    expect(await read([chatCall('asked', '', { output })])).toContain('say with messages which to take')
  })

  it('has what the model was asked where an agent returned its history', async () => {
    const returned = [user('q'), assistant('two')]
    const [agent, below] = belowAgent(returned)
    const inputs = { messages: [user('q')] }
    expect(
      await read([
        { ...agent, inputs },
        { ...below, output: { choices: [output.choices[1]] } },
      ]),
    ).toEqual({
      messages: [user('asked'), assistant('two')],
    })
  })

  it('has the one that a path names', async () => {
    const messages = { prompt: 'inputs.messages', answer: 'output.choices.1' }
    const row = await read([chatCall('asked', '', { output })], { messages })
    expect(row).toEqual({ messages: [user('asked'), assistant('two')] })
  })
})

describe('POST /v2/{entity}/{project}/collect of calls with a value that no dataset can hold', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const DEEP = 'a deep value'

  /** Collects an odd call and a plain one, of which only the plain one becomes a row. */
  async function leftOut(odd: Fields, into: Fields, fields: Fields = {}): Promise<string | undefined> {
    const project = server.newProject()
    const calls = [chatCall('q', 'a', odd), chatCall('q', 'a', { attributes: { n: 1 } })]
    const body = JSON.stringify({ batch: calls }).replaceAll(JSON.stringify(DEEP), deep)
    await writeDeepCalls(server, project, body)
    const reply = await collect(project, { from: FROM, into, ...fields })
    expect(reply.rows).toBe(1)
    expect(reply.left_out).toMatchObject([{ count: 1, example_call_id: calls[0]?.id }])
    return reply.left_out[0]?.reason
  }

  it.each<[string, Fields, string]>([
    ['an output nested deeply', { output: DEEP }, 'output'],
    ['an internal ref', { attributes: { n: 'weave-trace-internal:///p/object/o:1' } }, 'attributes.n'],
  ])('200 with columns, which leave out %s', async (_, odd, path) => {
    const columns = { o: path }
    expect(await leftOut(odd, { dataset: { name: 'c', columns } })).toContain('no dataset can hold')
  })

  it('200 with conversations, which leave out deep tools, messages and parts', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: DEEP } }]
    const withTools = { inputs: { messages: [user('q')], tools } }
    expect(await leftOut(withTools, INTO)).toContain('no dataset can hold')
    const messages = { prompt: 'inputs.messages', answer: 'output' }
    const withMember = { inputs: { messages: [{ ...user('q'), extra: DEEP }] } }
    expect(await leftOut(withMember, INTO, { messages })).toContain('no dataset can hold')
    const parts = [{ type: 'tool_call', id: '1', name: 'f', arguments: DEEP }]
    const withParts = { output: { choices: [{ message: { role: 'assistant', parts } }] } }
    expect(await leftOut(withParts, INTO)).toContain('asks a model, but its output is no answer')
    expect(await leftOut(withParts, INTO, { messages })).toContain('has neither texts nor messages')
  })
})

describe('POST /v2/{entity}/{project}/collect into sft', () => {
  it('503 without an engine, and nothing is written', async () => {
    const project = server.newProject()
    await write(project, [chatCall('a', 'b')])
    const train = { model: 'student', base_model: 'some/base' }
    const req = { from: FROM, into: { sft: { name: 'good', train } } }
    expect((await post(project, req)).status).toBe(503)
    expect(await objectsIn(project)).toBe(0)
  })
})
