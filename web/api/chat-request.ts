import { objectOf } from './json.ts'
import type { Json } from './wire.ts'

/** What a call asked a model, in the form of the chat API. */
export interface ChatRequest {
  messages: readonly Json[]
  tools: readonly Json[]
  /** All other members of the inputs. */
  rest: { [name: string]: Json | undefined }
}

/**
 * The chat request of a call: that of the chat API itself, or one of the Responses API of texts alone, which has the
 * same meaning; undefined where there is none.
 */
export function chatRequestOf({ inputs, output }: { inputs: Json; output: Json }): ChatRequest | undefined {
  const { messages, tools, ...rest } = objectOf(inputs)
  if (Array.isArray(messages)) return { messages, tools: Array.isArray(tools) ? tools : [], rest }
  return isResponse(output) ? responsesRequestOf(inputs) : undefined
}

/** Wire: embeddings, moderations and speech are asked for by the same inputs. */
function isResponse(output: Json): boolean {
  const { object, output: items } = objectOf(output)
  return object === 'response' || Array.isArray(items)
}

/** Wire: what these name is part of the conversation, and only OpenAI has it. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'prompt']

function responsesRequestOf(inputs: Json): ChatRequest | undefined {
  const { input, instructions, tools, ...rest } = objectOf(inputs)
  if (typeof rest['model'] !== 'string' || ELSEWHERE.some((name) => rest[name] != null)) return undefined
  if (instructions != null && typeof instructions !== 'string') return undefined
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  if (!Array.isArray(items) || items.length === 0) return undefined
  const said = items.map(saidBy)
  if (!said.every((message) => message !== undefined)) return undefined
  const offered = Array.isArray(tools) ? tools : []
  const functions = offered.map(functionOf)
  return {
    messages: [...(instructions == null ? [] : [{ role: 'system', content: instructions }]), ...said],
    tools: functions.filter((each) => each !== undefined),
    // Tools that OpenAI runs itself.
    rest: functions.includes(undefined) ? { ...rest, 'built-in tools': offered } : rest,
  }
}

const ROLES = ['system', 'developer', 'user', 'assistant']
const TEXTS = ['input_text', 'output_text', 'text']

/** A message of texts; undefined for any other item. */
function saidBy(item: Json): { role: string; content: string } | undefined {
  const { type, role, content } = objectOf(item)
  if ((type != null && type !== 'message') || typeof role !== 'string' || !ROLES.includes(role))
    return undefined
  if (typeof content === 'string') return { role, content }
  if (!Array.isArray(content)) return undefined
  const texts = content.map((part) => {
    const { type, text } = objectOf(part)
    return typeof type === 'string' && TEXTS.includes(type) && typeof text === 'string' ? text : undefined
  })
  return texts.every((text) => text !== undefined) ? { role, content: texts.join('\n') } : undefined
}

/** Wire: a function of the Responses API has beside its type what that of the chat API has below `function`. */
function functionOf(tool: Json): Json | undefined {
  const { type, ...described } = objectOf(tool)
  return type === 'function' && typeof described['name'] === 'string'
    ? { type, function: described as { [name: string]: Json } }
    : undefined
}
