/** A call of a function that a model asks for, as the chat API writes it. */
export interface ToolCall {
  id?: string
  type?: string
  function: { name: string; arguments: string }
}

interface Fields<Value> {
  [name: string]: Value
}

/**
 * Where clients write a call that a model asks for. Wire: the chat API has its name and arguments in `function`, which
 * is `inner` here; others have all of it in one object.
 */
export function calledIn<Value>(call: Fields<Value>, inner: Fields<Value>) {
  return {
    id: call['call_id'] ?? call['id'] ?? call['toolCallId'],
    name: inner['name'] ?? call['name'] ?? call['toolName'],
    input: inner['arguments'] ?? call['arguments'] ?? call['input'] ?? call['args'],
  }
}

/**
 * A tool call of a recorded message; undefined where it names no function.
 * Wire: Ollama and Mistral give arguments as an object; LangChain's tool calls are `{name, args, id}`.
 */
export function toolCallOf(recorded: unknown): ToolCall | undefined {
  if (!isObject(recorded)) return undefined
  const inner = recorded['function']
  const { id, name, input } = calledIn(recorded, isObject(inner) ? inner : {})
  if (typeof name !== 'string' || name === '') return undefined
  return {
    ...(typeof id === 'string' && { id }),
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
  }
}

const isObject = (value: unknown): value is Fields<unknown> => typeof value === 'object' && value !== null
