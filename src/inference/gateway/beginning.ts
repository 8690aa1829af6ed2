import { JsonText, stringify } from '../../json/lossless-json.ts'

/** Messages that a conversation keeps: what the system says, and the question that it begins with. */
const MESSAGES = 2

/**
 * An engine's prefix cache is of blocks of tokens from the beginning on: longer prompts that differ later share most of
 * it.
 */
const CHARS = 4_096

/** The beginning of the prompt of a request to an engine; requests that share it share what the engine has cached. */
export function beginningOf({ messages, prompt }: Readonly<Record<string, unknown>>): string {
  const beginning = Array.isArray(messages) ? messages.slice(0, MESSAGES) : (messages ?? prompt ?? '')
  const text = beginning instanceof JsonText ? beginning.text : stringify(beginning)
  return text.slice(0, CHARS)
}
