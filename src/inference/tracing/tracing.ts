import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { Log } from '../../log.ts'
import { nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { withoutNulls } from '../gateway/engine-fields.ts'
import type { TokenUsage } from '../gateway/reply-rewriter.ts'
import type { GatewayListener } from '../gateway/service.ts'
import { type Assembly, Chunk, createAssembly } from './assembled-completion.ts'
import { type AskedCall, startCall } from './logged-call.ts'

/** Computes one completion. */
export type Complete<Req> = (req: Req, context: CallContext, listener?: GatewayListener) => Promise<RawReply>

type OpName = Extract<AskedCall['op_name'], `${string}completions.create`>

/** Records every completion that belongs to a project as a call of it. */
export type Traced = <Req extends object>(opName: OpName, complete: Complete<Req>) => Complete<Req>

/** The error event in a stream. */
const Failure = z.object({ error: z.object({ message: z.string() }) })

interface Outcome {
  output?: string | undefined
  exception?: string | undefined
}

/** Records nothing, where tracing is not configured. */
export const untraced: Traced = (_opName, complete) => complete

/** Records completions as calls. The reply does not wait for the writes, and a refused request is not recorded. */
export function createTracing({ calls, log }: { calls: Pick<Calls, 'start' | 'end'>; log: Log }): Traced {
  return (op_name, complete) => async (req, context) => {
    const started_at = nowIso()
    const assembly = createAssembly()
    let asked: Pick<AskedCall, 'project_id' | 'inputs'> | undefined
    const listener: GatewayListener = {
      onAdmitted(target, project) {
        const inputs = { model: target.baseModel, ...withoutNulls(req) }
        if (project !== undefined) asked = { project_id: `${project.entity}/${project.project}`, inputs }
      },
      onUsage: (usage) => assembly.count(usageOf(usage)),
    }

    /** Starts the call, and returns a function that ends it. */
    function begin(): (outcome: Outcome) => void {
      if (asked === undefined) return () => {}
      const warn = (error: unknown): void => log.warn({ err: error }, 'a completion could not be traced')
      const call = startCall(calls, { ...asked, op_name, started_at }, context)
      call.catch(warn)
      return (outcome) =>
        void call.then(
          (started) => started.end(outcome).catch(warn),
          () => {},
        )
    }

    try {
      const reply = await complete(req, context, listener)
      const end = begin()
      if (reply.body instanceof ReadableStream) return { ...reply, body: watched(reply.body, assembly, end) }
      end({ output: String(reply.body) })
      return reply
    } catch (error) {
      begin()({ exception: messageOf(error) })
      throw error
    }
  }
}

/** Passes the bytes on, and assembles the completion from them. */
function watched(
  body: ReadableStream<Uint8Array>,
  assembly: Assembly,
  end: (outcome: Outcome) => void,
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
