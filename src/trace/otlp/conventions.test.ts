import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { callOf, eventOf } from './test-spans.ts'

const server = useTestServer()

type Json = Record<string, unknown>

/** A call's attributes without the copy of the span. */
function ownAttributes({ attributes: { otel_span: _, ...own } }: { attributes: Json }): Json {
  return own
}

const USER = { role: 'user', content: 'q' }
const SAID = { role: 'assistant', content: 'a' }

/** Attributes as the libraries of each convention send them, and the call that is made of them. */
const CONVENTIONS: {
  name: string
  sent: Json
  inputs: unknown
  output: unknown
  attributes: Json
  usage?: Json
}[] = [
  {
    name: 'OpenLLMetry with numbered prompts',
    sent: {
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'q',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'a',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.model': 'gpt-4-0613',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.prompt_tokens': 3,
      'gen_ai.usage.completion_tokens': '4',
      'gen_ai.usage.cache_read.input_tokens': 1,
    },
    inputs: { 'gen_ai.prompt': [USER] },
    output: { 'gen_ai.completion': [SAID] },
    attributes: {
      system: 'openai',
      model: 'gpt-4-0613',
      model_parameters: { model: 'gpt-4', temperature: 0.5 },
      finish_reasons: ['stop'],
    },
    usage: {
      'gpt-4-0613': {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        cache_read_input_tokens: 1,
      },
    },
  },
  {
    name: 'traceloop entities',
    sent: {
      'traceloop.span.kind': 'task',
      'traceloop.entity.input': '{"args": [], "kwargs": {"q": 1.0}}',
      'traceloop.entity.output': '"text"',
    },
    inputs: { 'traceloop.entity.input': { args: [], kwargs: { q: 1 } } },
    output: { 'traceloop.entity.output': '"text"' },
    attributes: { kind: 'task' },
  },
  {
    name: 'OpenTelemetry with messages',
    sent: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude',
      'gen_ai.response.id': 'r-1',
      'gen_ai.agent.name': 'planner',
      'gen_ai.agent.id': 'a-1',
      'gen_ai.system_instructions': '[{"type":"text","content":"be brief"}]',
      'gen_ai.input.messages': JSON.stringify([USER]),
      'gen_ai.output.messages': JSON.stringify([SAID]),
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_creation.input_tokens': 5,
    },
    inputs: { 'gen_ai.input.messages': [USER] },
    output: { 'gen_ai.output.messages': [SAID] },
    attributes: {
      system: [{ type: 'text', content: 'be brief' }],
      model: 'claude',
      provider: 'anthropic',
      model_parameters: { model: 'claude' },
      operation_name: 'chat',
      response_id: 'r-1',
      agent_name: 'planner',
      agent_id: 'a-1',
    },
    usage: {
      claude: { input_tokens: 10, output_tokens: 20, total_tokens: 30, cache_creation_input_tokens: 5 },
    },
  },
  {
    name: 'OpenTelemetry, a tool',
    sent: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.arguments': '{"city": "Paris"}',
      'gen_ai.tool.call.result': '{"sun": true}',
    },
    inputs: { 'gen_ai.tool.call.arguments': { city: 'Paris' } },
    output: { 'gen_ai.tool.call.result': { sun: true } },
    attributes: { operation_name: 'execute_tool' },
  },
  {
    name: 'OpenInference',
    sent: {
      'openinference.span.kind': 'LLM',
      'input.value': '{"q": [1, 2]}',
      'input.mime_type': 'application/json',
      'output.value': 'text',
      'llm.model_name': 'm',
      'llm.system': 'openai',
      'llm.provider': 'azure',
      'llm.invocation_parameters': '{"temperature": 0.1}',
      'llm.token_count.prompt': 1,
      'llm.token_count.completion': 2,
      'llm.token_count.total': 4,
    },
    inputs: { 'input.value': { q: [1, 2] } },
    output: { 'output.value': 'text' },
    attributes: {
      kind: 'LLM',
      model: 'm',
      system: 'openai',
      provider: 'azure',
      model_parameters: { temperature: 0.1 },
    },
    usage: { m: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 4 } },
  },
  {
    name: "Vercel's AI SDK",
    sent: {
      'ai.prompt': JSON.stringify({ messages: [USER] }),
      'ai.response.text': 'a',
      'ai.response.finishReason': 'stop',
      'ai.model.id': 'gpt',
      'ai.model.provider': 'openai.chat',
      'ai.usage.promptTokens': 5,
      'ai.usage.completionTokens': 6,
    },
    inputs: { 'ai.prompt': { messages: [USER] } },
    output: { 'ai.response': { text: 'a', finishReason: 'stop' } },
    attributes: { model: 'gpt', provider: 'openai.chat' },
    usage: { gpt: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 } },
  },
  {
    name: "Vercel's AI SDK with OpenTelemetry's names beside its own",
    sent: {
      'ai.model.id': 'gpt-4o',
      'ai.usage.promptTokens': 10,
      'ai.usage.completionTokens': 3,
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
    },
    inputs: {},
    output: {},
    attributes: { model: 'gpt-4o', model_parameters: { model: 'gpt-4o' } },
    usage: { 'gpt-4o': { input_tokens: 10, output_tokens: 3, total_tokens: 13 } },
  },
  {
    name: 'both names of the input, and one of the output',
    sent: {
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 3,
    },
    inputs: {},
    output: {},
    attributes: {},
    usage: { usage: { input_tokens: 10, completion_tokens: 3, total_tokens: 13 } },
  },
  {
    name: 'an embedding, which has no output tokens',
    sent: { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 0 },
    inputs: {},
    output: {},
    attributes: {},
    usage: { usage: { input_tokens: 10, output_tokens: 0, total_tokens: 10 } },
  },
  {
    name: 'names that count nothing before those that count',
    sent: {
      'gen_ai.usage.input_tokens': 0,
      'gen_ai.usage.prompt_tokens': '',
      'llm.token_count.prompt': 7,
      'llm.token_count.completion': 2,
      'llm.token_count.total': 0,
    },
    inputs: {},
    output: {},
    attributes: {},
    usage: { usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
  },
  {
    name: 'nothing that was counted',
    sent: { 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 },
    inputs: {},
    output: {},
    attributes: { gen_ai: { usage: { input_tokens: 0, output_tokens: 0 } } },
  },
  {
    name: 'MLflow',
    sent: { 'mlflow.spanInputs': '{"x": 1}', 'mlflow.spanOutputs': '[1, 2]', 'mlflow.spanType': 'CHAIN' },
    inputs: { 'mlflow.spanInputs': { x: 1 } },
    output: { 'mlflow.spanOutputs': [1, 2] },
    attributes: {},
  },
  {
    name: "Google's Agent Development Kit",
    sent: {
      'gcp.vertex.agent.llm_request': '{"model": "gemini"}',
      'gcp.vertex.agent.llm_response': '{"text": "a"}',
      'gen_ai.request.model': 'gemini',
    },
    inputs: { 'gcp.vertex.agent.llm_request': { model: 'gemini' } },
    output: { 'gcp.vertex.agent.llm_response': { text: 'a' } },
    attributes: { model: 'gemini', model_parameters: { model: 'gemini' } },
  },
  {
    name: 'Pydantic AI',
    sent: { 'pydantic_ai.all_messages': JSON.stringify([USER]), final_result: 'a', agent_name: 'x' },
    inputs: { 'pydantic_ai.all_messages': [USER] },
    output: { final_result: 'a' },
    attributes: {},
  },
  {
    name: 'plain inputs and outputs',
    sent: { inputs: '{"q": 1}', outputs: 'a', 'weave.span.kind': 'tool', 'llm.usage.total_tokens': 9 },
    inputs: { q: 1 },
    output: 'a',
    attributes: { kind: 'tool' },
    usage: { usage: { total_tokens: 9 } },
  },
  {
    name: 'a text input, and a model among the parameters',
    sent: { input: 'q', 'llm.invocation_parameters': '{"model": "m"}', 'llm.token_count.prompt': 2 },
    inputs: { input: 'q' },
    output: {},
    attributes: { model_parameters: { model: 'm' } },
    usage: { m: { prompt_tokens: 2 } },
  },
  {
    name: "Sentry's names below those of OpenTelemetry",
    sent: {
      'gen_ai.usage.output_tokens.reasoning': 1,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.input_tokens.cached': 5,
      'gen_ai.request.model': 'gpt-4o',
      'error.type': 'timeout',
      error: true,
    },
    inputs: {},
    output: {},
    attributes: { model: 'gpt-4o', model_parameters: { model: 'gpt-4o' } },
    usage: {
      'gpt-4o': { input_tokens: 10, output_tokens: 3, total_tokens: 13, cache_read_input_tokens: 5 },
    },
  },
  {
    name: "a tool of Vercel's AI SDK",
    sent: {
      'ai.toolCall.name': 'sun',
      'ai.toolCall.args': '{"city":"Paris"}',
      'ai.toolCall.result': '"yes"',
    },
    inputs: { 'ai.toolCall.args': { city: 'Paris' } },
    output: { 'ai.toolCall.result': '"yes"' },
    attributes: { tool_name: 'sun' },
  },
  {
    name: 'OpenTelemetry, a retrieval',
    sent: {
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.retrieval.query.text': 'q',
      'gen_ai.retrieval.documents': '[{"id":"d1","score":0.5}]',
    },
    inputs: { 'gen_ai.retrieval.query.text': 'q' },
    output: { 'gen_ai.retrieval.documents': [{ id: 'd1', score: 0.5 }] },
    attributes: { operation_name: 'retrieval' },
  },
  {
    name: 'values with names below them, of no convention',
    sent: { 'db.operation': 'SELECT', 'db.operation.name': 'select' },
    inputs: {},
    output: {},
    attributes: { db: { operation: 'SELECT' }, 'db.operation.name': 'select' },
  },
  {
    name: 'no convention',
    sent: {
      nothing: null,
      'http.method': 'GET',
      text: '{no json',
      bytes: new Uint8Array([1, 2]),
      nested: { 'a.b': [0.5] },
    },
    inputs: {},
    output: {},
    attributes: {
      nothing: null,
      http: { method: 'GET' },
      text: '{no json',
      bytes: 'AQI=',
      nested: { 'a.b': [0.5] },
    },
  },
]

describe('POST /otel/v1/traces', () => {
  it.each(CONVENTIONS)('200 for $name', async ({ sent, inputs, output, attributes, usage }) => {
    const call = await callOf(server, { attributes: sent })
    expect(call['inputs']).toEqual(inputs)
    expect(call['output']).toEqual(output)
    expect(ownAttributes(call)).toEqual(attributes)
    expect(call.summary['usage']).toEqual(usage)
  })

  it.each([
    {
      what: 'one event for the prompt and one for the completion',
      events: [
        eventOf('gen_ai.content.prompt', { 'gen_ai.prompt': JSON.stringify([USER]) }),
        eventOf('gen_ai.content.completion', { 'gen_ai.completion': JSON.stringify([SAID]) }),
      ],
      inputs: { 'gen_ai.prompt': [USER] },
      output: { 'gen_ai.completion': [SAID] },
    },
    {
      what: 'one event with all messages',
      events: [
        eventOf('gen_ai.client.inference.operation.details', {
          'gen_ai.input.messages': JSON.stringify([USER]),
          'gen_ai.output.messages': JSON.stringify([SAID]),
        }),
      ],
      inputs: { 'gen_ai.input.messages': [USER] },
      output: { 'gen_ai.output.messages': [SAID] },
    },
    {
      what: 'an event for each message',
      events: [
        eventOf('gen_ai.system.message', { 'gen_ai.event.content': '{"content":"be brief"}' }),
        eventOf('gen_ai.user.message', { content: 'q' }),
        eventOf('gen_ai.choice', { index: 1, message: '{"content":"a"}' }),
        eventOf('log', { input: 'not a message' }),
      ],
      inputs: { 'gen_ai.input.messages': [{ role: 'system', content: 'be brief' }, USER] },
      output: { 'gen_ai.output.messages': [{ role: 'assistant', index: 1, message: { content: 'a' } }] },
    },
  ])('200 for $what', async ({ events, inputs, output }) => {
    expect(await callOf(server, { events })).toMatchObject({ inputs, output })
  })
})
