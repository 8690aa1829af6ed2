import { isRecord } from '../is-record.ts'

/** A message as OpenAI's chat API has it, without members that are null. */
export interface Message {
  [member: string]: unknown
  role: string
}

/**
 * The messages that a message of OpenTelemetry's conventions is: its texts, reasoning and tool calls are one, each
 * result of a tool is another. Undefined where a part is something else.
 */
export function messagesOfParts(role: string, parts: readonly unknown[]): Message[] | undefined {
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: object[] = []
  const results: Message[] = []
  for (const part of parts) {
    if (!isRecord(part)) return undefined
    const { type, content, id, name } = part
    if (type === 'text' && typeof content === 'string') texts.push(content)
    else if (type === 'reasoning') thoughts.push(typeof content === 'string' ? content : '')
    else if (type === 'tool_call') {
      const text = textOf(part['arguments'])
      if (text === undefined) return undefined
      calls.push({ id, type: 'function', function: { name, arguments: text } })
    } else if (type === 'tool_call_response') {
      const text = textOf(part['response'] ?? part['result'])
      if (text === undefined) return undefined
      results.push({ role: 'tool', tool_call_id: id, content: text })
    } else return undefined
  }
  if (texts.length === 0 && calls.length === 0) return results.length === 0 ? undefined : results
  const reasoning = thoughts.join('')
  const message = {
    role,
    content: texts.join(''),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return [message, ...results]
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
