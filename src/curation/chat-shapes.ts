import { isRecord } from '../json/is-record.ts'
import { INPUTS, OUTPUTS } from '../trace/otlp/conventions.ts'
import { type Message, messagesOfParts } from './message-parts.ts'
import { messagesOfItems } from './response-items.ts'

/** One answer to a request. */
interface Answer {
  answer: Message
  /** The answer as the chat API returned it, with log-probabilities where it has some. */
  choice: Record<string, unknown> | undefined
  /** Whether the answer ends where a limit or a filter ended it. */
  isCutOff: boolean
}

/** What an output says of a conversation. */
interface Answered extends Answer {
  /** Further answers to the same request: clients ask for `n` of them. */
  others: readonly Answer[]
}

/** The request to a model and its answer. */
export interface Conversation extends Answered {
  prompt: Message[]
  tools: unknown[] | undefined
}

/** The payloads of a call as values. */
export interface Payloads {
  inputs: unknown
  output: unknown
  attributes?: unknown
}

/** Wire: where requests have what the system says, beside the messages. */
const SYSTEM_MEMBERS = ['system', 'instructions', 'system_prompt', 'system_message']

/** Wire: names of APIs for the end of an answer at a limit of tokens or by a filter. */
const CUT_OFF = ['length', 'max_tokens', 'content_filter', 'incomplete']

/**
 * The conversation in a call of a model: of OpenAI's chat and Responses APIs, of Anthropic's messages, or as
 * OpenTelemetry's conventions for generative AI have it. Undefined for anything else.
 */
export function chatOf({ inputs, output, attributes }: Payloads): Conversation | undefined {
  const asked = unwrapped(inputs, INPUTS)
  const said = unwrapped(output, OUTPUTS)
  const isResponse = isRecord(said) && said['object'] === 'response'
  const prompt = isResponse
    ? promptOfResponse(asked)
    : messagesIn(isRecord(asked) ? asked['messages'] : asked)
  const answered = isResponse ? answerOfResponse(said) : answerIn(said)
  if (prompt === undefined || answered === undefined) return undefined
  const [instructions, definitions] = chatOfSpan(attributes)
  const system = instructions ?? (isRecord(asked) ? systemIn(asked) : [])
  const tools = toolsIn(isRecord(asked) ? asked['tools'] : undefined) ?? definitions
  return { prompt: [...system, ...prompt], ...answered, tools }
}

/** Wire: a request that goes on from what the provider has stored does not say all that the model was asked. */
function promptOfResponse(asked: unknown): Message[] | undefined {
  // Of a request with nothing else, the input is unwrapped already.
  const request = isRecord(asked) ? asked : { input: asked }
  const { input, previous_response_id, conversation, prompt } = request
  if ((previous_response_id ?? conversation ?? prompt ?? null) !== null) return undefined
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return Array.isArray(input) && input.length > 0 ? messagesOfItems(input) : undefined
}

function answerOfResponse({ output, status }: Record<string, unknown>): Answered | undefined {
  const [answer, ...others] = (Array.isArray(output) ? messagesOfItems(output) : undefined) ?? []
  if (answer?.role !== 'assistant' || others.length > 0) return undefined
  return { answer, choice: undefined, isCutOff: isCutOff(status), others: [] }
}

function systemIn(asked: Record<string, unknown>): Message[] {
  for (const name of SYSTEM_MEMBERS) {
    const content = asked[name]
    if (typeof content === 'string' && content !== '') return [{ role: 'system', content }]
    if (Array.isArray(content)) return messagesOfParts('system', content) ?? []
  }
  return []
}

function isCutOff(reason: unknown): boolean {
  return typeof reason === 'string' && CUT_OFF.includes(reason)
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
export function answerIn(value: unknown): Answered | undefined {
  const [first, ...rest] = Array.isArray(value) ? value.toSorted((a, b) => placeOf(a) - placeOf(b)) : [value]
  if (isRecord(first) && Array.isArray(first['choices'])) return answerIn(first['choices'])
  const answer = answerOf(first)
  return answer && { ...answer, others: othersAmong(rest) }
}

/** Wire: choices say which of them they are, and may arrive in any order. */
function placeOf(choice: unknown): number {
  return isRecord(choice) && typeof choice['index'] === 'number' ? choice['index'] : 0
}

function answerOf(value: unknown): Answer | undefined {
  if (!isRecord(value)) return undefined
  const ended = { isCutOff: isCutOff(value['finish_reason'] ?? value['stop_reason']) }
  const message = messageOfChoice(value)
  if (!isRecord(message)) {
    const answer = assistants(value)
    return answer && { answer, choice: undefined, ...ended }
  }
  const answer = assistants({ role: 'assistant', ...message })
  return answer && { answer, choice: value, ...ended }
}

/** Wire: some clients store the last chunk of a stream, with all of the text in its `delta`. */
function messageOfChoice(choice: Record<string, unknown>): unknown {
  return choice['message'] ?? choice['delta']
}

/** Further choices; of messages those in a list of answers alone, since in a history they are later turns. */
function othersAmong(rest: readonly unknown[]): Answer[] {
  const answers = rest.map(answerOf)
  const areChoices = rest.every((item) => isRecord(item) && ('message' in item || 'delta' in item))
  if (areChoices) return answers.map((answer) => answer ?? UNREADABLE)
  return answers.every((answer) => answer !== undefined) ? answers : []
}

/** A choice that says nothing, such as a refusal; it may be the one that was judged. */
const UNREADABLE: Answer = {
  answer: { role: 'assistant', content: '' },
  choice: undefined,
  isCutOff: false,
}

function assistants(value: Record<string, unknown>): Message | undefined {
  const blocks = Array.isArray(value['content']) ? messagesOfParts('assistant', value['content']) : []
  const [said, ...results] = blocks ?? []
  const [answer, ...others] = [...(messagesOf({ ...value, ...said }) ?? []), ...results]
  if (answer?.role !== 'assistant' || others.length > 0) return undefined
  const { role, content, tool_calls } = answer
  const reasoning = reasoningOf(answer)
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : undefined
  if (typeof content !== 'string' && content !== undefined) return undefined
  if (content === undefined && calls === undefined) return undefined
  return { role, content: content ?? '', ...(reasoning !== undefined && { reasoning }), ...calls }
}

/**
 * Wire: what the model thought before it answered, which servers call `reasoning` and older ones `reasoning_content`.
 */
function reasoningOf({ reasoning, reasoning_content }: Message): string | undefined {
  const given = reasoning ?? reasoning_content
  return typeof given === 'string' && given !== '' ? given : undefined
}

function messagesOf(value: unknown): Message[] | undefined {
  if (!isRecord(value) || typeof value['role'] !== 'string') return undefined
  const { role, parts } = value
  if (Array.isArray(parts)) return messagesOfParts(value['role'], parts)
  // Other lists, of texts and images, stay as they are: templates and engines know them.
  const { content } = value
  if (Array.isArray(content) && content.some(isAnthropicBlock)) return messagesOfParts(value['role'], content)
  const members = Object.entries(value).filter(([, member]) => member !== null)
  const message: Message = { ...Object.fromEntries(members), role: String(role) }
  // Chat templates print the content of a message without checking that there is any.
  return [message['content'] === undefined && role !== 'assistant' ? { ...message, content: '' } : message]
}

/** Wire: blocks that OpenAI's messages have outside their content. */
function isAnthropicBlock(block: unknown): boolean {
  return isRecord(block) && ANTHROPIC_BLOCKS.includes(String(block['type']))
}

const ANTHROPIC_BLOCKS = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking']

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

/**
 * Wire: conventions leave out the level `function` of OpenAI's shape; Anthropic's tools also have another name for
 * their parameters.
 */
function toolsIn(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.map((tool: unknown) => {
    if (!isRecord(tool)) return tool
    if (isRecord(tool['input_schema'])) {
      const { name, description, input_schema: parameters } = tool
      return { type: 'function', function: { name, description, parameters } }
    }
    if (tool['type'] !== 'function' || isRecord(tool['function'])) return tool
    const { type, ...definition } = tool
    return { type, function: definition }
  })
}
