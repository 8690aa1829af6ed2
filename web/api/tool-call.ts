/** A call of a function that a model asks for, as the chat API writes it. */
export interface ToolCall {
  id?: string
  type?: string
  function: { name: string; arguments: string }
}

/**
 * A tool call of a recorded message; undefined where it names no function.
 * Wire: Ollama and Mistral give arguments as an object; LangChain's tool calls are `{name, args, id}`.
 */
export function toolCallOf(recorded: unknown): ToolCall | undefined {
  if (!isObject(recorded)) return undefined
  const { id, function: inner } = recorded
  const { name, arguments: given, args } = isObject(inner) ? inner : recorded
  if (typeof name !== 'string' || name === '') return undefined
  const values = given ?? args ?? {}
  return {
    ...(typeof id === 'string' && { id }),
    type: 'function',
    function: { name, arguments: typeof values === 'string' ? values : JSON.stringify(values) },
  }
}

type Object = { [key: string]: unknown }
const isObject = (value: unknown): value is Object => typeof value === 'object' && value !== null
