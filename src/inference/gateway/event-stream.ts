import { createParser } from 'eventsource-parser'
import { messageOf } from '../../errors.ts'
import type { Marked, TokenUsage } from './marks.ts'

const DONE = '[DONE]'

/** A client that reads slower than the engine writes makes the engine's bytes wait here, up to this many. */
const BUFFER_BYTES = 64 * 1024

/** A stream that has been silent for this long says that it lives: proxies cut silent ones after 30 to 60 s. */
const KEEP_ALIVE_MS = 15_000

/** A comment, which clients skip. */
const KEEP_ALIVE = ': keep-alive\n\n'

/** How a stream ended. */
export interface StreamEnd {
  /** Undefined when it was cut before the engine had counted. */
  usage: TokenUsage | undefined
  /** About the number of tokens that were passed on. */
  events: number
}

export interface RelayOptions {
  mark: (text: string) => Marked
  /** Called once, however the stream ends. */
  onEnd: (end: StreamEnd) => void
}

/**
 * Passes a completion's events on as they come, and no faster than they are read. Wire: an error after the first event
 * is an event too, and `[DONE]` still follows.
 */
export function relayEvents(
  body: AsyncIterable<Uint8Array>,
  options: RelayOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const relay = createRelay(options.mark)
  let isOpen = true
  let isSilent = true
  let resume: (() => void) | undefined
  let beat: NodeJS.Timeout | undefined

  function end(): void {
    if (!isOpen) return
    isOpen = false
    clearInterval(beat)
    resume?.()
    options.onEnd(relay.end)
  }

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for await (const text of relay.texts(body)) {
      if (!isOpen) return
      isSilent = false
      controller.enqueue(encoder.encode(text))
      if ((controller.desiredSize ?? 0) > 0) continue
      await new Promise<void>((fulfil) => {
        resume = fulfil
      })
    }
    if (!isOpen) return
    end()
    controller.close()
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        beat = setInterval(() => {
          if (isSilent) controller.enqueue(encoder.encode(KEEP_ALIVE))
          isSilent = true
        }, KEEP_ALIVE_MS)
        void pump(controller)
      },
      pull: () => resume?.(),
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  )
}

function createRelay(mark: RelayOptions['mark']) {
  const end: StreamEnd = { usage: undefined, events: 0 }

  /** One text for all events of one chunk, so that an event does not cost a write of its own. */
  async function* texts(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
    const decoder = new TextDecoder()
    let text = ''
    const parser = createParser({
      onEvent({ data }) {
        if (data === DONE) {
          text += `data: ${DONE}\n\n`
          return
        }
        const marked = mark(data)
        end.usage = marked.usage ?? end.usage
        end.events++
        if (marked.text !== undefined) text += `data: ${marked.text}\n\n`
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

  return { end, texts }
}
