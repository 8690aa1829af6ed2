import { isRecord } from '../is-record.ts'

/** A message as OpenAI's chat API has it, without members that are null. */
export interface Message {
  [member: string]: unknown
  role: string
}

/**
 * The messages that a message of OpenTelemetry's conventions is: its texts and tool calls are one, each result of a tool
 * is another. What was thought is left out. Undefined where a part is something else.
 */
export function messagesOfParts(role: string, parts: readonly unknown[]): Message[] | undefined {
  const texts: string[] = []
  const calls: object[] = []
  const results: Message[] = []
  for (const part of parts) {
    if (!isRecord(part)) return undefined
    const { type, content, id, name } = part
    if (type === 'text' && typeof content === 'string') texts.push(content)
    else if (type === 'tool_call')
      calls.push({ id, type: 'function', function: { name, arguments: textOf(part['arguments']) } })
    else if (type === 'tool_call_response')
      results.push({ role: 'tool', tool_call_id: id, content: textOf(part['response'] ?? part['result']) })
    else if (type !== 'reasoning') return undefined
  }
  if (texts.length === 0 && calls.length === 0) return results.length === 0 ? undefined : results
  const said = { role, content: texts.join(''), ...(calls.length > 0 && { tool_calls: calls }) }
  return [said, ...results]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {})
}
