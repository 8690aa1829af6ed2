import { z } from 'zod'
import { JsonText, memberText, memberTexts } from '../../json/lossless-json.ts'
import { AnyJson } from '../../wire/json-text-wire.ts'

/** A message or choice of one attempt, or a record beside them; unknown keys are kept. */
export const History = z
  .object({ messages_and_choices: z.array(AnyJson), tools: AnyJson.nullish() })
  .catchall(AnyJson.nullish())

/** A part of a history that becomes one call. */
export interface Turn {
  /** `choice` for a sampled answer, `messages` for a history without one. */
  kind: 'choice' | 'messages'
  /** The messages before the answer. */
  messages: JsonText[]
  /** The model's answer, as the chat API returned it; absent where the model did not answer. */
  choice?: JsonText
  /** Messages after the last answer; only the last turn of a history has them. */
  messages_after?: JsonText[]
}

/**
 * The turns of a history, at least one: together they hold all of its messages. Wire: a choice differs from a plain
 * message by its keys.
 */
export function* turnsOf(elements: readonly JsonText[]): Generator<Turn> {
  const answers = elements.map(messageOfChoice)
  const messages = elements.map((element, index) => answers[index] ?? element)
  const last = answers.findLastIndex((answer) => answer !== undefined)
  if (last === -1) yield plainTurn(messages)
  for (const [index, element] of elements.entries()) {
    if (answers[index] === undefined) continue
    const after = index === last ? messages.slice(index + 1) : []
    yield { kind: 'choice', messages: messages.slice(0, index), choice: element, ...messagesAfter(after) }
  }
}

/** A history without a sampled choice: its last message of an assistant counts as the answer. */
function plainTurn(messages: JsonText[]): Turn {
  const at = messages.findLastIndex(({ text }) => memberText(text, 'role') === '"assistant"')
  const answer = messages[at]
  if (answer === undefined) return { kind: 'messages', messages }
  const choice = new JsonText(`{"index":0,"message":${answer.text}}`)
  const after = messagesAfter(messages.slice(at + 1))
  return { kind: 'messages', messages: messages.slice(0, at), choice, ...after }
}

function messagesAfter(messages: JsonText[]): Pick<Turn, 'messages_after'> {
  return messages.length > 0 ? { messages_after: messages } : {}
}

function messageOfChoice({ text }: JsonText): JsonText | undefined {
  const [message, finishReason] = memberTexts(text, ['message', 'finish_reason'])
  return message === undefined || finishReason === undefined ? undefined : new JsonText(message)
}
