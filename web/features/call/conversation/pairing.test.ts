import { expect, it } from 'vitest'
import type { Json } from '../../../api/wire.ts'
import { conversationOf, type Message } from './messages.ts'
import { pairResults } from './pairing.ts'

/** Each call with its result, in order, and how many results have no call. */
function pairsOf(messages: readonly Message[]) {
  const { results, paired } = pairResults(messages)
  const parts = messages.flatMap(({ parts }) => parts)
  return {
    pairs: parts.flatMap((part) => (part.kind === 'call' ? [[part.input, results.get(part)]] : [])),
    left: parts.filter((part) => part.kind === 'result' && !paired.has(part)).length,
  }
}

function messagesIn(inputs: Json): Message[] {
  return conversationOf({ inputs, output: null })?.messages ?? []
}

const asked = (name: string, args: Json, id?: string) => ({
  function_call: { ...(id !== undefined && { id }), name, args },
})
const replied = (name: string, response: Json, id?: string) => ({
  function_response: { ...(id !== undefined && { id }), name, response },
})

it('calls that have only names get their results in order, from turn to turn too', () => {
  const contents = [
    { role: 'model', parts: [asked('weather', 'Rome'), asked('weather', 'Oslo'), asked('time', 'Oslo')] },
    { role: 'user', parts: [replied('weather', 'hot'), replied('time', 'noon'), replied('weather', 'cold')] },
    { role: 'model', parts: [asked('weather', 'Bonn'), asked('weather', 'Cork')] },
    { role: 'user', parts: [replied('weather', 'mild')] },
  ]
  expect(pairsOf(messagesIn({ contents }))).toEqual({
    pairs: [
      ['Rome', 'hot'],
      ['Oslo', 'cold'],
      ['Oslo', 'noon'],
      ['Bonn', 'mild'],
      ['Cork', undefined],
    ],
    left: 0,
  })
})

it('calls that have ids get the results of these in any order, and by their names those without', () => {
  const contents = [
    { role: 'model', parts: [asked('add', 1, 'a'), asked('add', 2, 'b'), asked('add', 3, 'c')] },
    { role: 'user', parts: [replied('add', 20, 'b'), replied('add', 10), replied('add', 30)] },
  ]
  expect(pairsOf(messagesIn({ contents }))).toEqual({
    pairs: [
      [1, 10],
      [2, 20],
      [3, 30],
    ],
    left: 0,
  })
})

it('an id that comes again is another call, and a result that no call waits for stays by itself', () => {
  const call = (id: string, args: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: args } }],
  })
  const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
  const messages = [
    result('call_0', 'of a turn that was cut off'),
    call('call_0', 'first'),
    result('call_0', 'one'),
    call('call_0', 'second'),
    result('call_0', 'two'),
    result('call_0', 'said again'),
  ]
  expect(pairsOf(messagesIn({ messages }))).toEqual({
    pairs: [
      ['first', 'one'],
      ['second', 'two'],
    ],
    left: 2,
  })
})
