import { firstAt, isTree, type Plain, type Tree, valueAt } from './attributes.ts'
import { INPUTS, OUTPUTS } from './conventions.ts'
import type { ShownEvent } from './otel-span.ts'

/**
 * Input and output in a span's events, for instrumentations that record them nowhere else. Wire: OpenTelemetry first
 * had one event for all messages, with the attributes of spans, and later one event for each message.
 */
export function messagesIn(events: readonly ShownEvent[], direction: 'inputs' | 'output'): Tree {
  const own = events.filter(({ name }) => name.startsWith('gen_ai.'))
  const keys = direction === 'inputs' ? INPUTS : OUTPUTS
  for (const { attributes } of own) {
    const first = firstAt(attributes, keys)
    if (first !== undefined) return { [first.key]: first.value }
  }
  const messages = own.filter(({ name }) => MESSAGE[direction].test(name)).map(messageOf)
  const key = direction === 'inputs' ? 'gen_ai.input.messages' : 'gen_ai.output.messages'
  return messages.length === 0 ? {} : { [key]: messages }
}

const MESSAGE = { inputs: /^gen_ai\.(system|user|assistant|tool)\.message$/, output: /^gen_ai\.choice$/ }

/**
 * Wire: the message is the event's attributes, or a JSON text in one of them; its role may be only in the event's name.
 */
function messageOf({ name, attributes }: ShownEvent): Plain {
  const body = valueAt(attributes, 'gen_ai.event.content') ?? attributes
  const [, role = 'assistant'] = MESSAGE.inputs.exec(name) ?? []
  return isTree(body) ? { role, ...body } : { role, content: body }
}
