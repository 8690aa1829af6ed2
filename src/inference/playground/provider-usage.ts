import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import type { StreamEnd } from '../gateway/event-stream.ts'
import { usageOf } from '../gateway/reply-rewriter.ts'

const WithUsage = z.looseObject({ usage: z.looseObject({}).nullish() })

/** Wire: answers with images count `input_tokens` and `output_tokens`. */
const Count = z.int().nonnegative()
const ImageUsage = z.looseObject({ input_tokens: Count, output_tokens: Count.default(0) })

/** The usage that the JSON of an answer, or of an event, has. */
export function usageIn(json: string): StreamEnd['usage'] {
  const found = WithUsage.safeParse(parsed(json))
  const usage = found.success ? found.data.usage : undefined
  const ofImages = ImageUsage.safeParse(usage)
  if (!ofImages.success) return usageOf(usage)
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens } = ofImages.data
  return { prompt_tokens, completion_tokens, cached_tokens: 0, reasoning_tokens: 0 }
}

/**
 * Passes on the bytes of a stream of events; `onEnd` gets its usage, or the number of its events if it was cut before.
 */
export async function* counted(
  body: AsyncIterable<Uint8Array>,
  onEnd: (end: StreamEnd) => void,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  let usage: StreamEnd['usage']
  let events = 0
  const parser = createParser({
    onEvent({ data }) {
      events++
      // Only the last event has it, so that few are parsed twice.
      if (data.includes('"usage"')) usage = usageIn(data) ?? usage
    },
  })
  try {
    for await (const bytes of body) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      yield bytes
    }
  } finally {
    onEnd({ usage, events })
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
