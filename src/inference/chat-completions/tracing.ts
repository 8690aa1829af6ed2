import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { Log } from '../../log.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { Chunk, createAssembly } from '../assembled-completion.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { TokenUsage } from '../gateway/marks.ts'
import type { ProjectOf } from '../gateway/project-header.ts'
import { startCall } from '../logged-call.ts'
import type { ServedModels } from '../models/served-models.ts'
import type { ChatCompletionReq } from './wire.ts'

/** What stands in a stream instead of a chunk when something goes wrong. */
const Failure = z.object({ error: z.object({ message: z.string() }) })

/** Answers one completion; `onUsage` hears what it cost, also where the client did not ask. */
export type Complete = (
  req: ChatCompletionReq,
  context: CallContext,
  onUsage?: (usage: TokenUsage) => void,
) => Promise<RawReply>

export interface TracingDeps {
  calls: Pick<Calls, 'start' | 'end'>
  served: ServedModels
  projectOf: ProjectOf
  log: Log
}

type End = (outcome: { output?: string | undefined; exception?: string | undefined }) => void

/** Makes every completion that belongs to a project a call of it. Nobody waits for the call to be written. */
export function createTracing({ calls, served, projectOf, log }: TracingDeps) {
  /** Starts the call, and returns what ends it; undefined for a completion of no project. */
  async function begin(req: ChatCompletionReq, context: CallContext): Promise<End | undefined> {
    const target = await served.resolve(req.model, context.caller)
    const project = projectOf(context, target)
    if (project === undefined) return undefined
    const inputs = { ...withoutNulls(req), model: req.model ?? target.baseModel }
    const project_id = `${project.entity}/${project.project}`
    const starting = startCall(calls, { project_id, op_name: 'chat.completions.create', inputs }, context)
    return (outcome) => {
      starting
        .then((call) => call.end(outcome))
        .catch((error: unknown) => log.warn({ err: error }, 'a completion could not be traced'))
    }
  }

  return (complete: Complete): Complete =>
    async (req, context) => {
      const end = await begin(req, context)
      if (end === undefined) return complete(req, context)
      const assembly = createAssembly()
      try {
        const reply = await complete(req, context, (usage) => assembly.add({ usage: usageOf(usage) }, 0))
        if (reply.body instanceof ReadableStream)
          return { ...reply, body: watched(reply.body, assembly, end) }
        end({ output: String(reply.body) })
        return reply
      } catch (error) {
        end({ exception: messageOf(error) })
        throw error
      }
    }
}

/** The same bytes; what they say is put together on their way. */
function watched(
  body: ReadableStream<Uint8Array>,
  assembly: ReturnType<typeof createAssembly>,
  end: End,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  let exception: string | undefined
  const parser = createParser({
    onEvent({ data }) {
      if (exception !== undefined || !data.startsWith('{')) return
      try {
        const value: unknown = JSON.parse(data)
        const failure = Failure.safeParse(value)
        if (failure.success) exception = failure.data.error.message
        else assembly.add(Chunk.parse(value), data.length)
      } catch (error) {
        exception = messageOf(error)
      }
    },
  })
  const watching = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      parser.feed(decoder.decode(bytes, { stream: true }))
      controller.enqueue(bytes)
    },
    flush: () => end({ output: assembly.completion(), exception }),
    cancel: () => end({ output: assembly.completion(), exception: 'The client went away' }),
  })
  return body.pipeThrough(watching)
}

/** Wire: usage as replies have it. */
function usageOf({ prompt_tokens, completion_tokens, cached_tokens }: TokenUsage) {
  const total_tokens = prompt_tokens + completion_tokens
  return { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details: { cached_tokens } }
}
