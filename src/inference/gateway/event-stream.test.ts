import { afterEach, describe, expect, it, vi } from 'vitest'
import { relayEvents, type StreamEnd } from './event-stream.ts'

const USAGE = { prompt_tokens: 1, cached_tokens: 0, completion_tokens: 2, reasoning_tokens: 0 }

/** A rewriter that puts text in brackets, and drops `usage`, which it counts; `usage so far` is that of one choice. */
function rewrite(text: string) {
  if (text === 'usage') return { text: undefined, usage: USAGE, choices: 0 }
  return { text: `[${text}]`, usage: text === 'usage so far' ? USAGE : undefined, choices: 1 }
}

function relay(body: AsyncIterable<Uint8Array>, ends: StreamEnd[] = []) {
  const rewriter = { rewrite, renamed: () => undefined }
  async function read(onChunk: (chunk: Uint8Array) => Promise<void> | void): Promise<void> {
    for await (const chunk of body) await onChunk(chunk)
  }
  return { ends, stream: relayEvents(read, { rewriter, onEnd: (end) => ends.push(end) }) }
}

async function* bytes(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text()

describe('relayEvents', () => {
  afterEach(() => vi.useRealTimers())

  it('counts no usage of a stream that was cut before that of all choices', async () => {
    const { stream, ends } = relay(bytes('data: usage so far\n\ndata: usage so far\n\n'))
    await textOf(stream)
    expect(ends).toMatchObject([{ usage: undefined, events: 2 }])
  })

  it('passes events on however they were cut, without the usage that was not requested', async () => {
    const split = Buffer.from('data: ü\n\n')
    const { stream, ends } = relay(
      bytes(
        'data: a\n\nda',
        'ta: b\n',
        '\n',
        split.subarray(0, 7),
        split.subarray(7),
        'data: usage\n\n',
        'data: [DONE]\n\n',
      ),
    )
    expect(await textOf(stream)).toBe('data: [a]\n\ndata: [b]\n\ndata: [ü]\n\ndata: [DONE]\n\n')
    expect(ends).toEqual([{ usage: USAGE, events: 4, firstAt: expect.any(Number) }])
  })

  it('has ended with its last event, while the connection to the engine is still open', async () => {
    async function* lasting(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: a\n\n')
      yield Buffer.from('data: usage\n\ndata: [DONE]\n\n')
      await new Promise(() => {})
    }
    const { stream, ends } = relay(lasting())
    expect(await textOf(stream)).toBe('data: [a]\n\ndata: [DONE]\n\n')
    expect(ends).toEqual([{ usage: USAGE, events: 2, firstAt: expect.any(Number) }])
  })

  it('ends a stream that breaks with an error and the usual end', async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: a\n\n')
      throw new Error('the engine is gone')
    }
    const { stream, ends } = relay(breaking())
    const events = (await textOf(stream)).trim().split('\n\n')
    expect(events).toHaveLength(3)
    expect(JSON.parse(events[1]?.slice('data: '.length) ?? '')).toEqual({
      error: { message: 'the engine is gone', type: 'ServiceUnavailableError', param: null, code: 503 },
    })
    expect(events[2]).toBe('data: [DONE]')
    expect(ends).toEqual([{ usage: undefined, events: 1, firstAt: expect.any(Number) }])
  })

  it('reads no faster than its reader, except for a bounded buffer', async () => {
    let taken = 0
    const ends: StreamEnd[] = []
    // Like an engine's connection, which is closed when the stream ends.
    async function* untilEnded(): AsyncGenerator<Uint8Array> {
      while (ends.length === 0) {
        taken++
        yield Buffer.from(`data: ${'x'.repeat(1000)}\n\n`)
      }
    }
    const { stream } = relay(untilEnded(), ends)
    const reader = stream.getReader()
    await reader.read()
    for (let turn = 0; turn < 300; turn++) await Promise.resolve()
    const atRest = taken
    for (let turn = 0; turn < 300; turn++) await Promise.resolve()
    expect([taken, atRest < 100]).toEqual([atRest, true])
    await reader.cancel()
    expect(ends).toHaveLength(1)
  })

  it('gives up a client that does not read at all', async () => {
    vi.useFakeTimers()
    const ends: StreamEnd[] = []
    async function* untilEnded(): AsyncGenerator<Uint8Array> {
      while (ends.length === 0) yield Buffer.from(`data: ${'x'.repeat(1000)}\n\n`)
    }
    const { stream } = relay(untilEnded(), ends)
    await vi.advanceTimersByTimeAsync(61_000)
    expect(ends).toHaveLength(1)
    await expect(textOf(stream)).rejects.toThrow('was not read')
  })

  it('sends keep-alive comments while the engine is silent', async () => {
    vi.useFakeTimers()
    const silence = Promise.withResolvers<void>()
    async function* late(): AsyncGenerator<Uint8Array> {
      await silence.promise
      yield Buffer.from('data: a\n\n')
    }
    const { stream } = relay(late())
    const text = textOf(stream)
    await vi.advanceTimersByTimeAsync(31_000)
    silence.resolve()
    expect(await text).toBe(': keep-alive\n\n: keep-alive\n\ndata: [a]\n\n')
  })
})
