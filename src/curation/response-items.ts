import { isRecord } from '../json/is-record.ts'
import { type Message, messagesOfParts } from './message-parts.ts'

/** What one item of a response adds to a conversation. */
interface Spoken {
  role: string
  parts: unknown[]
}

/**
 * The messages that the items of OpenAI's Responses API are, of a request or of an answer. Undefined where an item is
 * something else, such as a search that the provider made.
 */
export function messagesOfItems(items: readonly unknown[]): Message[] | undefined {
  const spoken: Spoken[] = []
  for (const item of items) {
    const one = spokenIn(item)
    if (one === undefined) return undefined
    const last = spoken.at(-1)
    // Thoughts, texts and tool calls of one answer are items side by side.
    if (one.role === 'assistant' && last?.role === 'assistant')
      for (const part of one.parts) last.parts.push(part)
    else spoken.push(one)
  }
  const messages: Message[] = []
  for (const { role, parts } of spoken) {
    const read = messagesOfParts(role, parts)
    if (read === undefined) return undefined
    for (const message of read) messages.push(message)
  }
  return messages
}

function spokenIn(item: unknown): Spoken | undefined {
  if (!isRecord(item)) return undefined
  const { type, role, content } = item
  if (type === 'function_call' || type === 'reasoning') return { role: 'assistant', parts: [item] }
  if (type === 'function_call_output') return { role: 'tool', parts: [item] }
  if (typeof role !== 'string') return undefined
  if (typeof content === 'string') return { role, parts: [{ type: 'text', text: content }] }
  return Array.isArray(content) ? { role, parts: [...content] } : undefined
}
