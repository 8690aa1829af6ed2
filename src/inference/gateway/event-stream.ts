import { createParser } from 'eventsource-parser'
import { messageOf } from '../../errors.ts'
import type { EngineReply } from '../../stores/compute/port.ts'
import type { ReplyRewriter, TokenUsage } from './reply-rewriter.ts'

const DONE = '[DONE]'

/** When a client reads more slowly than the engine writes, up to this many of the engine's bytes are buffered. */
const BUFFER_BYTES = 64 * 1024

/** A stream that has been silent for this long gets a comment: proxies close silent ones after 30 to 60 s. */
const KEEP_ALIVE_MS = 15_000

/** A client that has not read for this long is disconnected, which frees its slot at the engine. */
export const READER_MS_MAX = 60_000

const ENCODER = new TextEncoder()

/** A comment, which clients skip. */
const KEEP_ALIVE = ENCODER.encode(': keep-alive\n\n')

/** How a stream ended. */
export interface StreamEnd {
  /** Undefined when it was cut before the engine had counted. */
  usage: TokenUsage | undefined
  /** Approximate number of tokens passed on. */
  events: number
  /** Time of the first token, by `performance.now()`; absent for a reply in one piece. */
  firstAt?: number
}

export interface RelayOptions {
  rewriter: ReplyRewriter
  /** Called once, however the stream ends. */
  onEnd: (end: StreamEnd) => void
}

/**
 * Forwards a completion's events as they arrive, with backpressure. Wire: an error after the first event is an event
 * too, and `[DONE]` still follows.
 */
export function relayEvents(read: EngineReply['read'], options: RelayOptions): ReadableStream<Uint8Array> {
  const relay = createRelay(options.rewriter)
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

  function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    try {
      end()
    } finally {
      controller.close()
    }
  }

  function untilRead(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    return new Promise((fulfil) => {
      const tooLate = setTimeout(() => {
        end()
        controller.error(new Error(`The stream was not read for ${READER_MS_MAX / 1000} s`))
      }, READER_MS_MAX)
      resume = () => {
        clearTimeout(tooLate)
        fulfil()
      }
    })
  }

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      await read((chunk) => {
        const bytes = isOpen ? relay.pass(chunk) : undefined
        if (bytes === undefined) return
        isSilent = false
        relay.end.firstAt ??= performance.now()
        controller.enqueue(bytes)
        // Clients close the connection after it, which would look like one that left earlier.
        if (relay.isDone()) return close(controller)
        if ((controller.desiredSize ?? 0) > 0) return
        return untilRead(controller)
      })
    } catch (error) {
      if (isOpen) controller.enqueue(ENCODER.encode(failure(error)))
    }
    if (isOpen) close(controller)
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        beat = setInterval(() => {
          if (isSilent) controller.enqueue(KEEP_ALIVE)
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

function failure(error: unknown): string {
  const described = { message: messageOf(error), type: 'ServiceUnavailableError', param: null, code: 503 }
  return `data: ${JSON.stringify({ error: described })}\n\ndata: ${DONE}\n\n`
}

interface Relay {
  /** What was passed on so far. */
  end: StreamEnd
  /** The rewritten events of a chunk, joined, so that none costs a write of its own. */
  pass(chunk: Uint8Array): Uint8Array | undefined
  /** Whether the last event, `[DONE]`, was passed on. */
  isDone(): boolean
}

function createRelay(rewriter: ReplyRewriter): Relay {
  const end: StreamEnd = { usage: undefined, events: 0 }
  const decoder = new TextDecoder()
  let text = ''
  // Whether the parser holds the beginning of an event.
  let isWithin = false
  let isDone = false
  const parser = createParser({
    onEvent({ data }) {
      if (data === DONE) {
        text += `data: ${DONE}\n\n`
        isDone = true
        return
      }
      const rewritten = rewriter.rewrite(data)
      // Of a chunk of one choice, it is that choice's alone until then.
      if (rewritten.choices === 0) end.usage = rewritten.usage ?? end.usage
      end.events++
      if (rewritten.text !== undefined) text += `data: ${rewritten.text}\n\n`
    },
  })

  function pass(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const renamed = isWithin ? undefined : rewriter.renamed(bytes)
    if (renamed !== undefined) {
      end.events++
      return renamed
    }
    text = ''
    parser.feed(decoder.decode(bytes, { stream: true }))
    isWithin = !bytes.subarray(-2).equals(EVENT_END)
    return text === '' ? undefined : ENCODER.encode(text)
  }

  return { end, pass, isDone: () => isDone }
}

const EVENT_END = Buffer.from('\n\n')
