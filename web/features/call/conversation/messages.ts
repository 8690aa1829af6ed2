import { objectOf, parseJson } from '../../../api/json.ts'
import { calledIn } from '../../../api/tool-call.ts'
import type { Json } from '../../../api/wire.ts'

/** One message of a conversation, in the form of any client. */
export interface Message {
  role: string
  parts: Part[]
}

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'media'; value: Json }
  | { kind: 'call'; id: string; name: string; input: Json }
  | { kind: 'result'; id: string; value: Json }
  | { kind: 'value'; value: Json }

interface Conversation {
  messages: Message[]
  /** From here on, the answer. */
  answerAt: number
}

/** The conversation in a call; undefined when it has none. */
export function conversationOf(call: { inputs: Json; output: Json }): Conversation | undefined {
  const asked = askedOf(call.inputs)
  const answered = answeredOf(call.output)
  if (asked === undefined && answered === undefined) return undefined
  // After a conversation, a bare text is the answer.
  const bare = asked !== undefined && typeof call.output === 'string' ? said('assistant', call.output) : []
  const answer = answered ?? bare
  const messages = asked ?? []
  // Some clients repeat the whole conversation in what they return.
  const isRepeated =
    messages.length > 0 && JSON.stringify(answer.slice(0, messages.length)) === JSON.stringify(messages)
  return {
    messages: [...messages, ...(isRepeated ? answer.slice(messages.length) : answer)],
    answerAt: messages.length,
  }
}

/** Wire: under these names clients keep the request to a model, OpenTelemetry's with their dots. */
const ASKED = [
  'messages',
  'input',
  'contents',
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'ai.prompt',
  'llm.input_messages',
  'pydantic_ai.all_messages',
  'input.value',
  'request',
  'body',
]
const ANSWERED = [
  'choices',
  'output',
  'candidates',
  'gen_ai.output.messages',
  'gen_ai.completion',
  'llm.output_messages',
  'output.value',
  'messages',
]
const SYSTEM = ['system', 'instructions', 'system_instruction', 'gen_ai.system_instructions']

function askedOf(inputs: Json, depth = 0): Message[] | undefined {
  const of = objectOf(inputs)
  for (const name of ASKED) {
    const value = of[name]
    const found = messagesOf(value) ?? (depth === 0 && value !== undefined ? askedOf(value, 1) : undefined)
    if (found !== undefined) return [...SYSTEM.flatMap((key) => said('system', of[key])), ...found]
  }
  // Wire: the Responses API takes a bare text, beside the name of a model.
  if (typeof of['input'] === 'string' && typeof of['model'] === 'string')
    return [...SYSTEM.flatMap((key) => said('system', of[key])), ...said('user', of['input'])]
  return undefined
}

function answeredOf(output: Json | undefined, depth = 0): Message[] | undefined {
  const whole = messagesOf(output)
  if (whole !== undefined) return whole
  const of = objectOf(output)
  const one = messageOf(output, 'assistant')
  if (one !== undefined) return [one]
  for (const name of ANSWERED) {
    const value = of[name]
    const found = messagesOf(value) ?? (depth === 0 && value !== undefined ? answeredOf(value, 1) : undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** A list with messages, in which other items stand as they are; undefined where it has none. */
function messagesOf(value: Json | undefined): Message[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const messages = value.map((item) => messageOf(item))
  if (messages.every((message) => message === undefined)) return undefined
  return messages.map((message, index) => message ?? itemOf(value[index] ?? null))
}

/** Wire: among messages, the Responses API has calls of its own tools and references to earlier items. */
function itemOf(value: Json): Message {
  const part: Part = typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'value', value }
  return { role: textOf(objectOf(value)['type']) || 'item', parts: [part] }
}

const LANGCHAIN: Record<string, string> = { human: 'user', ai: 'assistant', system: 'system', tool: 'tool' }

/** @param fallback the role of what does not name one but has the content of a message */
function messageOf(item: Json | undefined, fallback?: string): Message | undefined {
  const of = objectOf(item)
  const inner =
    of['message'] ??
    of['kwargs'] ??
    (Array.isArray(objectOf(of['content'])['parts']) ? of['content'] : undefined)
  if (inner !== undefined && of['role'] === undefined) return messageOf(inner, fallback ?? 'assistant')
  const type = typeof of['type'] === 'string' ? of['type'] : ''
  if (type === 'function_call' || type === 'function_call_output' || type === 'reasoning')
    return { role: type === 'function_call_output' ? 'tool' : 'assistant', parts: [partOf(of)] }
  const role = typeof of['role'] === 'string' ? of['role'] : (LANGCHAIN[type] ?? fallback)
  const content = of['content'] ?? of['parts']
  const calls = of['tool_calls'] ?? objectOf(of['additional_kwargs'])['tool_calls']
  if (role === undefined || (content === undefined && !Array.isArray(calls) && of['role'] === undefined))
    return undefined
  const thought = of['reasoning_content'] ?? of['reasoning']
  return {
    role: role === 'model' ? 'assistant' : role,
    parts: [
      ...(typeof thought === 'string' && thought !== ''
        ? [{ kind: 'reasoning' as const, text: thought }]
        : []),
      ...(role === 'tool' || role === 'function' ? resultParts(of, content) : partsOf(content)),
      ...(Array.isArray(calls) ? calls.map((call) => callPart(objectOf(call))) : []),
    ],
  }
}

/** OpenAI's tool messages are one result; OpenTelemetry's hold results as their parts. */
function resultParts(of: Fields, content: Json | undefined): Part[] {
  const parts = partsOf(content)
  if (parts.some(({ kind }) => kind === 'result')) return parts
  return [
    { kind: 'result', id: textOf(of['tool_call_id'] ?? of['id'] ?? of['name']), value: content ?? null },
  ]
}

function partsOf(content: Json | undefined): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return (Array.isArray(content) ? content : [content]).map((part) =>
    typeof part === 'string' ? { kind: 'text', text: part } : partOf(objectOf(part)),
  )
}

type Fields = { [key: string]: Json | undefined }

const CALLS = new Set(['tool_use', 'tool_call', 'function_call', 'server_tool_use', 'tool-call'])
const RESULTS = new Set(['tool_result', 'tool_call_response', 'function_call_output', 'tool-result'])
const MEDIA = new Set([
  'image_url',
  'input_image',
  'image',
  'input_audio',
  'audio',
  'video',
  'uri',
  'blob',
  'file',
  'input_file',
])

function partOf(part: Fields): Part {
  const type = textOf(part['type'])
  if (type === 'thinking' || type === 'reasoning') return { kind: 'reasoning', text: thoughtOf(part) }
  if (CALLS.has(type)) return callPart(part)
  if (RESULTS.has(type)) {
    const id = part['tool_use_id'] ?? part['call_id'] ?? part['toolCallId'] ?? part['id']
    const value = part['content'] ?? part['output'] ?? part['response'] ?? part['result'] ?? null
    return { kind: 'result', id: textOf(id), value }
  }
  if (MEDIA.has(type) || part['_type'] !== undefined || part['inline_data'] !== undefined)
    return { kind: 'media', value: part }
  if (part['function_call'] !== undefined) return callPart(objectOf(part['function_call']))
  if (part['function_response'] !== undefined) {
    const { id, name, response } = objectOf(part['function_response'])
    return { kind: 'result', id: textOf(id ?? name), value: response ?? null }
  }
  const text = part['text'] ?? part['content'] ?? part['refusal']
  return typeof text === 'string' ? { kind: 'text', text } : { kind: 'value', value: part }
}

function callPart(call: Fields): Part {
  const called = calledIn(call, objectOf(call['function']))
  const name = textOf(called.name)
  return { kind: 'call', id: textOf(called.id ?? name), name, input: parsed(called.input ?? null) }
}

function thoughtOf(part: Fields): string {
  const whole = part['thinking'] ?? part['text'] ?? part['content']
  if (typeof whole === 'string') return whole
  const summary = Array.isArray(part['summary']) ? part['summary'] : []
  return summary.map((each) => textOf(objectOf(each)['text'])).join('\n')
}

/** A text that holds JSON is its value. */
export function parsed(value: Json): Json {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseJson(value) as Json
  } catch {
    return value
  }
}

function said(role: string, value: Json | undefined): Message[] {
  const parts = partsOf(value)
  return parts.length === 0 ? [] : [{ role, parts }]
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : ''
}
