import { ClientError, messageOf } from '../../errors.ts'
import { READER_MS_MAX } from '../gateway/event-stream.ts'
import { Chunk, createAssembly } from '../tracing/assembled-completion.ts'
import type { LoggedCall } from '../tracing/logged-call.ts'
import { CLIENT_GONE, type Deadline, startDeadline } from './deadline.ts'
import { eventsOf, readAnswer } from './read-answer.ts'

export interface CompletionStream {
  call: LoggedCall | undefined
  conversationId: string | undefined
  timeout: number | string | undefined | null
  /** Disposed of when the lines have ended. */
  slot: Disposable
  /** Aborted when the reader is gone. */
  client: AbortSignal
  /** Starts the model's answer. */
  ask: (deadline: Deadline) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * The lines of a streamed completion, each as soon as it arrives. Wire: a tracked one begins with the id of its call,
 * and an error is the last line. However it ends, the call ends with the output up to then.
 */
export async function* completionLines(stream: CompletionStream): AsyncGenerator<string> {
  const { call, client, slot } = stream
  using _slot = slot
  const assembly = createAssembly()
  let exception: string | undefined = CLIENT_GONE
  try {
    if (call) yield metaLine(call, stream.conversationId)
    for await (const data of dataOf(stream)) {
      assembly.add(readAnswer(data, Chunk), data.length)
      // Line breaks in JSON stand between its tokens only.
      yield `${data.replaceAll(/[\r\n]+/g, ' ')}\n`
    }
    exception = undefined
  } catch (error) {
    if (client.aborted) return
    exception = messageOf(error)
    if (!(error instanceof ClientError)) throw error
    yield errorLine(exception)
  } finally {
    await call?.end({ output: assembly.completion(), exception })
  }
}

async function* dataOf({ timeout, client, ask }: CompletionStream): AsyncGenerator<string> {
  using deadline = startDeadline(timeout, client)
  try {
    yield* eventsOf(await ask(deadline))
  } catch (error) {
    throw deadline.causeOf(error)
  }
}

export function errorLine(error: string): string {
  return `${JSON.stringify({ error })}\n`
}

function metaLine(call: LoggedCall, conversationId: string | undefined): string {
  const meta = { weave_call_id: call.id, trace_id: call.trace_id, conversation_id: conversationId }
  return `${JSON.stringify({ _meta: meta })}\n`
}

/**
 * A body that produces a line when it is read, and breaks off where it is not: what a line holds is held until the next
 * one is asked for. `onCancel` must end the source of the lines.
 */
export function streamOf(lines: AsyncGenerator<string>, onCancel: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let tooLate: NodeJS.Timeout | undefined

  async function end(): Promise<void> {
    clearTimeout(tooLate)
    onCancel()
    await lines.return(undefined)
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(tooLate)
      const next = await lines.next()
      if (next.done) return controller.close()
      controller.enqueue(encoder.encode(next.value))
      tooLate = setTimeout(() => {
        controller.error(new Error(`The stream was not read for ${READER_MS_MAX / 1000} s`))
        end().catch(() => undefined)
      }, READER_MS_MAX)
    },
    cancel: end,
  })
}
