import { isRecord } from '../../json/is-record.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'

/** Wire: among names of ops, means the end of an agent's turn. */
export const TURN_ENDED = 'weave.genai.turn_ended'

/** A message of a turn. Wire: `content` is text, or JSON of its parts where they are not all text. */
interface TurnMessage {
  role: string
  content: string
  finish_reason: string
}

/** A finished turn of an agent. Wire: the form in which remote scorers receive it. */
export interface AgentTurn {
  event_type: typeof TURN_ENDED
  project_id: string
  trace_id: string
  span_id: string
  span_name: string
  operation_name: string | null
  started_at: string
  ended_at: string
  conversation: { id: string | null; name: string | null }
  agent: { name: string | null; version: string | null; description: string | null }
  status: { code: string; message: string | null; error_type: string | null }
  messages: { system_instructions: string[]; input: TurnMessage[]; output: TurnMessage[] }
}

/** Wire: a turn has ended when a span without a parent has. Undefined for other calls. */
export function turnOf(call: Call): AgentTurn | undefined {
  const span = at(call.attributes.value(), 'otel_span')
  const ended_at = textAt(span, 'end_time')
  const started_at = textAt(span, 'start_time') ?? call.started_at
  if (span === undefined || call.parent_id !== null) return undefined
  if (ended_at === null || ended_at < started_at) return undefined
  const attributes = at(span, 'attributes')
  const attribute = (name: string): string | null =>
    textAt(attributes, `weave.${name}`) ?? textAt(attributes, `gen_ai.${name}`)
  return {
    event_type: TURN_ENDED,
    project_id: call.project_id,
    trace_id: call.trace_id,
    span_id: call.id,
    span_name: textAt(span, 'name') ?? call.op_name,
    operation_name: attribute('operation.name'),
    started_at,
    ended_at,
    conversation: { id: attribute('conversation.id'), name: attribute('conversation.name') },
    agent: {
      name: attribute('agent.name'),
      version: attribute('agent.version'),
      description: attribute('agent.description'),
    },
    status: {
      code: textAt(span, 'status.code') ?? 'UNSET',
      message: textAt(span, 'status.message') || null,
      error_type: textAt(attributes, 'error.type'),
    },
    messages: messagesOf(attributes),
  }
}

/** The turn with the messages of the spans below it, in the order of their start, where its own span has none. */
export async function withMessagesOf(turn: AgentTurn, calls: AsyncIterable<Call>): Promise<AgentTurn> {
  let { system_instructions, input, output } = turn.messages
  const hasOutput = output.length > 0
  for await (const call of calls) {
    const span = messagesOf(at(call.attributes.value(), 'otel_span.attributes'))
    if (system_instructions.length === 0) system_instructions = span.system_instructions
    if (input.length === 0) input = span.input
    if (!hasOutput && span.output.length > 0) output = span.output
  }
  return { ...turn, messages: { system_instructions, input, output } }
}

/** The last message of the agent; null where none was recorded. */
export function answerOf({ messages }: AgentTurn): string | null {
  return messages.output.at(-1)?.content ?? null
}

function messagesOf(attributes: unknown): AgentTurn['messages'] {
  const found = (...names: string[]): unknown =>
    names.map((name) => at(attributes, name)).find((value) => value !== undefined)
  return {
    system_instructions: listOf(found('weave.system_instructions', 'gen_ai.system_instructions')).map(
      contentOf,
    ),
    input: listOf(found('weave.input.messages', 'gen_ai.input.messages', 'gen_ai.prompt')).map((one) =>
      messageOf(one, 'user'),
    ),
    output: listOf(found('weave.output.messages', 'gen_ai.output.messages', 'gen_ai.completion')).map((one) =>
      messageOf(one, 'assistant'),
    ),
  }
}

function messageOf(value: unknown, role: string): TurnMessage {
  const message = isRecord(value) ? value : {}
  const finish_reason = String(message['finish_reason'] ?? '')
  return { role: String(message['role'] ?? role), content: contentOf(value), finish_reason }
}

function contentOf(value: unknown): string {
  if (!isRecord(value)) return typeof value === 'string' ? value : JSON.stringify(value ?? '')
  const parts = value['parts'] ?? value['content'] ?? value['text']
  if (!Array.isArray(parts)) return contentOf(parts)
  const texts = parts.map((part: unknown) => (isRecord(part) ? (part['content'] ?? part['text']) : part))
  const areTexts = parts.every((part: unknown) => !isRecord(part) || part['type'] === 'text')
  return areTexts && texts.every((text) => typeof text === 'string')
    ? texts.join('\n')
    : JSON.stringify(parts)
}

/** Wire: lists may have come as the text of their JSON. */
function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null || value === '') return []
  if (Array.isArray(value)) return value
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return [value]
  try {
    return listOf(JSON.parse(value))
  } catch {
    return [value]
  }
}

/** The value at a dotted path, whose steps may be keys that contain dots. */
function at(value: unknown, path: string): unknown {
  if (path === '') return value ?? undefined
  if (!isRecord(value)) return undefined
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end)
    const found = Object.hasOwn(value, key) ? at(value[key], path.slice(end + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function textAt(value: unknown, path: string): string | null {
  const found = at(value, path)
  return typeof found === 'string' && found !== '' ? found : null
}
