import { createParser } from 'eventsource-parser'
import { messageOf } from '../../errors.ts'
import { marked, type ReplyMarks } from './engine-reply.ts'

const DONE = '[DONE]'

/**
 * Passes a completion's events on under the client's name for the model, as they come and no faster than they are
 * read. Wire: an error after the first event is an event too, and `[DONE]` still follows.
 */
export function relayEvents(
  body: AsyncIterable<Uint8Array>,
  options: { marks: ReplyMarks; onEnd: () => void },
): ReadableStream<Uint8Array> {
  const events = relay(body, options.marks)
  const encoder = new TextEncoder()
  let ended = false
  function end(): void {
    if (!ended) options.onEnd()
    ended = true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await events.next()
      if (!next.done) return controller.enqueue(encoder.encode(next.value))
      end()
      controller.close()
    },
    async cancel() {
      end()
      await events.return()
    },
  })
}

/** One text for all events of one chunk, so that an event does not cost a write of its own. */
async function* relay(body: AsyncIterable<Uint8Array>, marks: ReplyMarks): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let text = ''
  const parser = createParser({
    onEvent({ data }) {
      text += `data: ${data === DONE ? DONE : marked(data, marks)}\n\n`
    },
  })
  try {
    for await (const chunk of body) {
      parser.feed(decoder.decode(chunk, { stream: true }))
      if (text === '') continue
      yield text
      text = ''
    }
  } catch (error) {
    const described = { message: messageOf(error), type: 'ServiceUnavailableError', param: null, code: 503 }
    yield `data: ${JSON.stringify({ error: described })}\n\ndata: ${DONE}\n\n`
  }
}
