import { type Request, scenario } from '../scenario.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

type Value = string | number | boolean | Value[]

const RESOURCE = { attributes: [{ key: 'service.name', value: { stringValue: 'tests' } }] }
const SCOPE = { name: 'scope', version: '1.0' }

const SPANS: [title: string, attributes: Record<string, Value>, fields?: object][] = [
  ['plain', {}],
  ['own attributes', { own: 'x', 'a.b': 1, 'a.c': 2.5, flag: true, list: ['x', 'y'] }],
  [
    'gen_ai',
    {
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4',
      'gen_ai.response.model': 'gpt-4-0613',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.prompt': '[{"role":"user","content":"hi"}]',
      'gen_ai.completion': 'hello',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.conversation.id': 'thread',
    },
  ],
  [
    'numbered',
    {
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'hi',
      'gen_ai.prompt.1.role': 'assistant',
      'gen_ai.completion.0.content': 'yes',
    },
  ],
  [
    'openinference',
    {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'm',
      'llm.provider': 'p',
      'llm.invocation_parameters': '{"temperature": 1}',
      'input.value': '{"q": 1}',
      'output.value': 'text',
      'llm.token_count.prompt': 1,
      'llm.token_count.completion': 2,
      'llm.token_count.total': 3,
    },
  ],
  [
    'traceloop',
    {
      'traceloop.span.kind': 'workflow',
      'traceloop.entity.input': '{"x":[1,2]}',
      'traceloop.entity.output': 'not {json',
    },
  ],
  [
    'ai sdk',
    {
      'ai.model.id': 'm',
      'ai.model.provider': 'p',
      'ai.prompt': '{"p":1}',
      'ai.response.text': 't',
      'ai.usage.promptTokens': 4,
      'ai.usage.completionTokens': 6,
    },
  ],
  ['plain input and output', { input: '{"a":1}', output: '{"b":2}' }],
  [
    'wandb',
    {
      'wandb.display_name': 'Shown',
      'wandb.thread_id': 'th',
      'wandb.is_turn': true,
      'wandb.attributes.team': 'x',
      'wandb.wb_run_step': 3,
    },
  ],
  ['failed', {}, { status: { code: 2, message: 'no' } }],
  ['failed without words', {}, { status: { code: 2 } }],
  ['well', {}, { status: { code: 1 } }],
  ['child', {}, { parentSpanId: spanId(0), kind: 3 }],
  [
    'with events and links',
    {},
    {
      events: [{ name: 'e', timeUnixNano: '1704067200500000000', attributes: [] }],
      links: [{ traceId: TRACE, spanId: spanId(0) }],
    },
  ],
  ['a name that is far too long for an op, as it goes on and on '.repeat(4), {}],
  ['a name/with: signs!', {}],
  [
    'in nanoseconds',
    {},
    { startTimeUnixNano: '1704067200123456789', endTimeUnixNano: '1704067201987654321' },
  ],
]

/** Spans of OpenTelemetry, and the calls that they become. */
export const otlp = scenario('otlp', (project, ask) => {
  const spans = SPANS.map(([title, attributes, fields], index) =>
    exportOf(project, span(title, index, attributes, fields)),
  )
  const empty: Request = {
    title: 'exports nothing',
    method: 'POST',
    path: '/otel/v1/traces',
    headers: { project_id: project },
    body: {},
  }
  return [
    empty,
    ...spans,
    ...SPANS.map(([title], index) => ask(`reads ${title}`, '/call/read', { id: spanId(index) })),
    ask('reads all', '/calls/stream_query', {}),
    ask('ops', '/objs/query', { filter: { is_op: true } }),
  ]
})

/** A span with a name of an attribute that is also a prefix of another. */
export const spanInConflict = scenario('span in conflict', (project, ask) => [
  exportOf(project, span('in conflict', 0, { a: 1, 'a.b': 2 })),
  ask('reads', '/call/read', { id: spanId(0) }),
])

function exportOf(project: string, sent: ReturnType<typeof span>): Request {
  return {
    title: `exports ${sent.name}`,
    method: 'POST',
    path: '/otel/v1/traces',
    headers: { project_id: project },
    body: { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ scope: SCOPE, spans: [sent] }] }] },
  }
}

function span(title: string, index: number, attributes: Record<string, Value>, fields: object = {}) {
  return {
    traceId: TRACE,
    spanId: spanId(index),
    name: title,
    kind: 1,
    startTimeUnixNano: `170406720${index % 10}000000000`,
    endTimeUnixNano: `170406721${index % 10}500000000`,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: attributeValue(value) })),
    status: {},
    ...fields,
  }
}

function spanId(index: number): string {
  return `00f067aa0ba902${(0x10 + index).toString(16)}`
}

function attributeValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(attributeValue) } }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
