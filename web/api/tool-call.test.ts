import { expect, it } from 'vitest'
import { toolCallOf } from './tool-call.ts'

it.each([
  ['the chat API', { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
  ['Ollama and Mistral', { id: 'c1', function: { name: 'add', arguments: { a: 1 } } }],
  ['LangChain', { id: 'c1', type: 'tool_call', name: 'add', args: { a: 1 } }],
])('reads a tool call as %s writes it', (_, recorded) => {
  const read = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
  expect(toolCallOf(recorded)).toEqual(read)
})

it('takes a call without arguments for one of none', () => {
  expect(toolCallOf({ function: { name: 'now' } })?.function.arguments).toBe('{}')
})

it.each([null, 'add', [], {}, { function: null }, { function: { name: { of: 1 } } }])(
  'reads nothing of %j',
  (recorded) => expect(toolCallOf(recorded)).toBeUndefined(),
)
