import { isRecord } from '../json/is-record.ts'

/** A message as OpenAI's chat API has it, without members that are null. */
export interface Message {
  [member: string]: unknown
  role: string
}

/** What a part of a message is, whichever API calls it so. */
type Read =
  | { is: 'text' | 'thought'; text: string }
  | { is: 'call' | 'result'; id: unknown; name?: unknown; text: string }

/**
 * The messages that a message of parts is: its texts, reasoning and tool calls are one, each result of a tool is
 * another. Wire: parts of OpenTelemetry's conventions, blocks of Anthropic's messages and items of OpenAI's responses.
 * Undefined where a part is something else.
 */
export function messagesOfParts(role: string, parts: readonly unknown[]): Message[] | undefined {
  const read = parts.map(readPart)
  if (!read.every((part) => part !== undefined)) return undefined
  const texts = read.filter(({ is }) => is === 'text')
  const reasoning = joined(read.filter(({ is }) => is === 'thought'))
  const calls = read.flatMap((part) =>
    part.is === 'call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: part.text } }]
      : [],
  )
  const results = read.flatMap((part) =>
    part.is === 'result' ? [{ role: 'tool', tool_call_id: part.id, content: part.text }] : [],
  )
  if (texts.length === 0 && calls.length === 0) return results.length === 0 ? undefined : results
  const message = {
    role,
    content: joined(texts),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  // A user's text beside results is said after them: they answer the message before.
  return role === 'user' ? [...results, message] : [message, ...results]
}

function readPart(part: unknown): Read | undefined {
  if (!isRecord(part)) return undefined
  const { type, name } = part
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text = part['content'] ?? part['text']
      return typeof text === 'string' ? { is: 'text', text } : undefined
    }
    case 'reasoning':
    case 'thinking':
    case 'redacted_thinking': {
      const text = part['content'] ?? part['thinking']
      return { is: 'thought', text: typeof text === 'string' ? text : '' }
    }
    case 'tool_call':
    case 'tool_use':
    case 'function_call': {
      const text = textOf(part['arguments'] ?? part['input'])
      return text === undefined ? undefined : { is: 'call', id: part['call_id'] ?? part['id'], name, text }
    }
    case 'tool_call_response':
    case 'tool_result':
    case 'function_call_output': {
      const id = part['call_id'] ?? part['tool_use_id'] ?? part['id']
      const text = resultOf(part['response'] ?? part['result'] ?? part['content'] ?? part['output'])
      return text === undefined ? undefined : { is: 'result', id, text }
    }
    default:
      return undefined
  }
}

/** Wire: results are values, texts, or lists of parts that are texts. */
function resultOf(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return textOf(value)
  const texts = value.map(readPart).filter((part): part is Read => part?.is === 'text')
  return texts.length === value.length ? joined(texts) : textOf(value)
}

function joined(parts: readonly { text: string }[]): string {
  return parts.map(({ text }) => text).join('')
}

/** Undefined for a value nested too deeply to be written, so that only its own call is skipped. */
function textOf(value: unknown): string | undefined {
  try {
    return typeof value === 'string' ? value : JSON.stringify(value ?? {})
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
