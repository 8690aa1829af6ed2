import { isRecord } from '../is-record.ts'
import { INPUTS, OUTPUTS } from '../trace/otlp/conventions.ts'
import { type Message, messagesOfParts } from './message-parts.ts'

/** The request to a model and its answer. */
export interface Conversation {
  prompt: Message[]
  answer: Message
  tools: unknown[] | undefined
  /** The answer as the chat API returned it, with log-probabilities where it has some. */
  choice: Record<string, unknown> | undefined
}

/** The payloads of a call as values. */
export interface Payloads {
  inputs: unknown
  output: unknown
  attributes?: unknown
}

/**
 * The conversation in a call of a model: of OpenAI's shape, or as OpenTelemetry's conventions for generative AI have it.
 * Undefined for anything else.
 */
export function chatOf({ inputs, output, attributes }: Payloads): Conversation | undefined {
  const asked = unwrapped(inputs, INPUTS)
  const prompt = messagesIn(isRecord(asked) ? asked['messages'] : asked)
  const answer = answerIn(unwrapped(output, OUTPUTS))
  if (prompt === undefined || answer === undefined) return undefined
  const [system, definitions] = chatOfSpan(attributes)
  const tools = toolsIn(isRecord(asked) ? asked['tools'] : undefined) ?? definitions
  return { prompt: [...(system ?? []), ...prompt], ...answer, tools }
}

/** A list of messages, with at least one; undefined for anything else. */
export function messagesIn(value: unknown): Message[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const messages: Message[] = []
  for (const one of value) {
    const read = messagesOf(one)
    if (read === undefined) return undefined
    for (const message of read) messages.push(message)
  }
  return messages
}

/** An answer: a completion, a choice, a message of the assistant, or a list that begins with one of these. */
export function answerIn(value: unknown): Pick<Conversation, 'answer' | 'choice'> | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isRecord(first)) return undefined
  if (Array.isArray(first['choices'])) return answerIn(first['choices'])
  if (!isRecord(first['message'])) {
    const answer = assistants(first)
    return answer && { answer, choice: undefined }
  }
  const answer = assistants({ role: 'assistant', ...first['message'] })
  return answer && { answer, choice: first }
}

function assistants(value: unknown): Message | undefined {
  const [answer, ...others] = messagesOf(value) ?? []
  if (answer?.role !== 'assistant' || others.length > 0) return undefined
  const { role, content, tool_calls } = answer
  const reasoning = reasoningOf(answer)
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : undefined
  if (typeof content !== 'string' && content !== undefined) return undefined
  if (content === undefined && calls === undefined) return undefined
  return { role, content: content ?? '', ...(reasoning !== undefined && { reasoning }), ...calls }
}

/** Wire: what the model thought before it answered, which servers call `reasoning` and older ones `reasoning_content`. */
function reasoningOf({ reasoning, reasoning_content }: Message): string | undefined {
  const given = reasoning ?? reasoning_content
  return typeof given === 'string' && given !== '' ? given : undefined
}

function messagesOf(value: unknown): Message[] | undefined {
  if (!isRecord(value) || typeof value['role'] !== 'string') return undefined
  const { role, parts } = value
  if (Array.isArray(parts)) return messagesOfParts(value['role'], parts)
  const members = Object.entries(value).filter(([, member]) => member !== null)
  const message: Message = { ...Object.fromEntries(members), role: String(role) }
  // Chat templates print the content of a message without checking that there is any.
  return [message['content'] === undefined && role !== 'assistant' ? { ...message, content: '' } : message]
}

/** Wire: payloads of spans are stored under the name of their attribute. */
function unwrapped(payload: unknown, names: readonly string[]): unknown {
  if (!isRecord(payload)) return payload
  const [name, ...others] = Object.keys(payload)
  return name !== undefined && others.length === 0 && names.includes(name) ? payload[name] : payload
}

/** Wire: spans keep system instructions and tools among their attributes. */
function chatOfSpan(attributes: unknown): [system: Message[] | undefined, tools: unknown[] | undefined] {
  if (!isRecord(attributes)) return [undefined, undefined]
  const { system, otel_span: span } = attributes
  const instructions = Array.isArray(system) ? messagesOfParts('system', system) : undefined
  let definitions: unknown = span
  for (const name of ['attributes', 'gen_ai', 'tool', 'definitions'])
    definitions = isRecord(definitions) ? definitions[name] : undefined
  return [instructions, toolsIn(definitions)]
}

/** Wire: conventions leave out the level `function` of OpenAI's shape. */
function toolsIn(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.map((tool: unknown) => {
    if (!isRecord(tool) || tool['type'] !== 'function' || isRecord(tool['function'])) return tool
    const { type, ...definition } = tool
    return { type, function: definition }
  })
}
