import { text } from 'node:stream/consumers'
import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { ClientError, messageOf } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import { NestedTooDeeply, parseShallow } from '../../json/parse-shallow.ts'
import { BadAnswer, NoAnswer } from './answer-errors.ts'

/** Characters of one event; a chunk with all of a long answer in it is shorter. */
const EVENT_CHARS_MAX = 4 * 1024 * 1024

const DONE = '[DONE]'

/** The error events of OpenAI-compatible services after a status of 200. */
const Failure = z.looseObject({ error: z.union([z.string(), z.looseObject({ message: z.string() })]) })

/**
 * Parses an answer or a chunk of one.
 * @throws NoAnswer with the error that came instead; BadAnswer for anything else
 */
export function readAnswer<Answer>(json: string, schema: z.ZodType<Answer>): Answer {
  const value = parseAnswer(json, `The model answered something that is not JSON: ${json.slice(0, 100)}`)
  const failure = Failure.safeParse(value)
  if (failure.success) {
    const { error } = failure.data
    throw new NoAnswer(typeof error === 'string' ? error : error.message, { cause: value })
  }
  const answer = schema.safeParse(value)
  if (!answer.success) throw new BadAnswer('The model answered something that cannot be read', answer.error)
  return answer.data
}

/**
 * Parses JSON of a model.
 * @throws BadAnswer for what is nested too deeply, and with the given message for what is no JSON
 */
export function parseAnswer(json: string, message: string): unknown {
  try {
    return parseShallow(json)
  } catch (error) {
    const isDeep = error instanceof NestedTooDeeply
    throw new BadAnswer(isDeep ? "The model's answer is nested too deeply" : message, error)
  }
}

/** Reads a whole body. @throws NoAnswer when it breaks off */
export async function wholeText(body: RawReply['body']): Promise<string> {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : text(unbroken(body))
}

async function* unbroken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw error instanceof ClientError
      ? error
      : new NoAnswer('The model broke off its answer', { cause: error })
  }
}

/**
 * The data of a stream's events. The body is read to its end: an engine counts an unread one as a disconnect.
 * @throws BadAnswer when there were none; NoAnswer when it breaks off
 */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let events: string[] = []
  let hasEvents = false
  const parser = createParser({
    maxBufferSize: EVENT_CHARS_MAX,
    onEvent: ({ data }) => void events.push(data),
    onError(error) {
      // The parser accepts nothing more after this; its other errors can be ignored.
      if (error.type === 'max-buffer-size-exceeded') throw new BadAnswer(messageOf(error), error)
    },
  })
  for await (const bytes of unbroken(body)) {
    events = []
    parser.feed(decoder.decode(bytes, { stream: true }))
    for (const data of events) {
      if (data === DONE) continue
      hasEvents = true
      yield data
    }
  }
  if (!hasEvents) throw new BadAnswer('The model answered something that is not a stream')
}
