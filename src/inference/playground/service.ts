import { ClientError, messageOf } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Files } from '../../trace/files/service.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { STREAM_HEADERS } from '../gateway/stream-headers.ts'
import { type LoggedCall, startCall } from '../tracing/logged-call.ts'
import { type AnswererDeps, type Asker, createAnswerer } from './answerer.ts'
import { type Deadline, inTime } from './deadline.ts'
import { completionLines, errorLine, streamOf } from './lines.ts'
import { filledInputs } from './prompt.ts'
import { withStoredImages } from './stored-images.ts'
import type * as wire from './wire.ts'

export interface PlaygroundDeps extends AnswererDeps {
  calls: Pick<Calls, 'start' | 'end'>
  objects: Pick<Objects, 'read'>
  files: Pick<Files, 'create'>
}

/** Sends questions of a person to models, and records each with its answer as a call of the project. */
export interface Playground {
  /**
   * The JSON of a completion whose caller records it as a call, and asks again where that helps.
   * @throws ClientError with the reason of a failure.
   */
  ask(inputs: wire.CompletionInputs, asker: Asker): Promise<string>
  createCompletion(req: wire.CompletionsCreateReq, context: CallContext): Promise<wire.CompletionsCreateRes>
  streamCompletion(req: wire.CompletionsCreateReq, context: CallContext): Promise<RawReply>
  createImage(req: wire.ImageCreateReq, context: CallContext): Promise<wire.ImageCreateRes>
}

export function createPlayground(deps: PlaygroundDeps): Playground {
  const { calls, objects, files } = deps
  const answerer = createAnswerer(deps)

  /** Takes a slot for a question, which `slots` disposes of, and fills in its messages. */
  function begin(
    req: wire.CompletionsCreateReq,
    { asker, slots }: { asker: Asker; slots: DisposableStack },
  ): Promise<Attempt<wire.CompletionInputs>> {
    return attempt(() => {
      slots.use(answerer.enter(asker))
      return filledInputs(req.inputs, { projectId: req.project_id, objects, holds: asker.context.holds })
    })
  }

  async function startCompletion(
    req: wire.CompletionsCreateReq,
    inputs: wire.CompletionInputs,
    context: CallContext,
  ): Promise<LoggedCall | undefined> {
    if (req.track_llm_call === false) return undefined
    const { project_id, trace_id, parent_id, conversation_id } = req
    const attributes = {
      conversation_name: req.conversation_name ?? undefined,
      source: req.source ?? undefined,
    }
    const asked = { project_id, trace_id, parent_id, conversation_id, attributes, inputs }
    return startCall(calls, { ...asked, op_name: 'weave.completions_create' }, context)
  }

  async function ask(inputs: wire.CompletionInputs, asker: Asker): Promise<string> {
    using _slot = answerer.enter(asker)
    return await inTime(inputs.timeout, asker.context.signal, (deadline) =>
      answerer.completion(inputs, asker, { deadline, retries: 'none' }),
    )
  }

  async function createCompletion(
    req: wire.CompletionsCreateReq,
    context: CallContext,
  ): Promise<wire.CompletionsCreateRes> {
    const asker = { project_id: req.project_id, context }
    using slots = new DisposableStack()
    const filled = await begin(req, { asker, slots })
    if ('error' in filled) return completionReply(req, undefined, filled)
    const inputs = filled.result
    const call = await startCompletion(req, inputs, context)
    const answer = await logged(call, async () => {
      const ask = (deadline: Deadline) => answerer.completion(inputs, asker, { deadline, retries: 'few' })
      const response = await inTime(inputs.timeout, context.signal, ask)
      return { response, output: response }
    })
    return completionReply(req, call, answer)
  }

  async function streamCompletion(req: wire.CompletionsCreateReq, context: CallContext): Promise<RawReply> {
    const asker = { project_id: req.project_id, context }
    using slots = new DisposableStack()
    const filled = await begin(req, { asker, slots })
    if ('error' in filled) return { headers: LINES_HEADERS, body: errorLine(filled.error) }
    const inputs = filled.result
    const call = await startCompletion(req, inputs, context)
    const gone = new AbortController()
    const lines = completionLines({
      call,
      conversationId: req.conversation_id ?? undefined,
      timeout: inputs.timeout,
      slot: slots.move(),
      client: AbortSignal.any([context.signal, gone.signal]),
      ask: (deadline) => answerer.stream(inputs, asker, deadline),
    })
    return { headers: LINES_HEADERS, body: streamOf(lines, () => gone.abort()) }
  }

  async function createImage(req: wire.ImageCreateReq, context: CallContext): Promise<wire.ImageCreateRes> {
    const { project_id, inputs } = req
    const asked = { project_id, inputs, op_name: 'weave.image_generation_create' as const }
    const call = req.track_llm_call === false ? undefined : await startCall(calls, asked, context)
    const asker = { project_id, context }
    const answer = await logged(call, async () => {
      using _slot = answerer.enter(asker)
      const ask = (deadline: Deadline) => answerer.images(inputs, asker, deadline)
      const response = await inTime(undefined, context.signal, ask)
      const output = call && (await withStoredImages(response, { projectId: project_id, files }))
      return { response, output }
    })
    return { response: responseOf(answer), weave_call_id: call?.id ?? null }
  }

  return { ask, createCompletion, streamCompletion, createImage }
}

const LINES_HEADERS = { ...STREAM_HEADERS, 'content-type': 'application/jsonl' }

type Attempt<Result> = { result: Result } | { error: string }

/** Wire: an error with a reason for people is part of the reply; the status is 200. */
async function attempt<Result>(work: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { result: await work() }
  } catch (error) {
    if (error instanceof ClientError) return { error: error.message }
    throw error
  }
}

/** Runs the work of a call and records how it ended. */
function logged(
  call: LoggedCall | undefined,
  work: () => Promise<{ response: string; output: string | undefined }>,
): Promise<Attempt<string>> {
  return attempt(async () => {
    const answer = await work().catch(async (error: unknown) => {
      await call?.end({ exception: messageOf(error) })
      throw error
    })
    await call?.end({ output: answer.output })
    return answer.response
  })
}

function completionReply(
  req: wire.CompletionsCreateReq,
  call: LoggedCall | undefined,
  answer: Attempt<string>,
): wire.CompletionsCreateRes {
  return {
    response: responseOf(answer),
    weave_call_id: call?.id ?? null,
    trace_id: call?.trace_id ?? null,
    conversation_id: req.conversation_id ?? null,
    span_id: null,
  }
}

function responseOf(answer: Attempt<string>): JsonText {
  return new JsonText('error' in answer ? JSON.stringify(answer) : answer.result)
}
