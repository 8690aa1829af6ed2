import { type Place, requireRight } from '../../access.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { EngineReply, InferenceProcess } from '../../stores/compute/port.ts'
import { loraOf } from '../../training/base-models/lora-wire.ts'
import type { ServedModels, Target } from '../served-models/service.ts'
import type { Admission, Load } from './admission.ts'
import { createDispatch, type DispatchDeps, type EngineRequest } from './dispatch.ts'
import { ReplyTooLarge, readText } from './engine-reply.ts'
import { createEngineTurns } from './engine-turns.ts'
import { relayEvents, type StreamEnd } from './event-stream.ts'
import { createOpener } from './opened-request.ts'
import type { Project, ProjectOf } from './project-header.ts'
import {
  createReplyRewriter,
  type Fingerprint,
  type ReplyFields,
  type ReplyRewriter,
  type TokenUsage,
  usageAtEnd,
} from './reply-rewriter.ts'
import { createSpeeds, type Speeds } from './speeds.ts'
import type { UsageRecorder } from './spending.ts'
import { STREAM_HEADERS } from './stream-headers.ts'
import type { EngineLoad } from './turns.ts'

export interface GatewayDeps extends DispatchDeps {
  served: ServedModels
  admission: Admission
  usage: UsageRecorder
  projectOf: ProjectOf
}

/** One request to an engine, for any of its endpoints. */
export interface GatewayRequest extends EngineRequest {
  /** As the client named it; the default base model where it did not. */
  model: string | null | undefined
  /** Answers that are generated at once for it. */
  answers: number
  /** How the usage at the end of a stream is handled; `none` for a reply in one piece. */
  stream: 'none' | 'with-usage' | 'without-usage'
  /** Added to each choice of the reply. */
  choiceMarks?: (target: Target) => Record<string, unknown>
  /** How a reply of the target is handled further. */
  replyFields?: (target: Target) => Pick<ReplyFields, 'promptIds' | 'dropsReasoning'>
  listener?: GatewayListener | undefined
}

/** A caller inside the server that sends a request for other work. */
export interface GatewayListener {
  /** The project and key that the request counts for, in place of those of its headers. */
  project?: Project
  /** Called when the request has been admitted, with the weights that will answer and what it counts for. */
  onAdmitted?: (target: Target, project: Project | undefined) => void
  /** Called with the usage, once the engine has counted. */
  onUsage?: (usage: TokenUsage) => void
}

/** The gateway in front of the inference engines: admission, choice of weights, and usage. */
export interface Gateway {
  /** Slots in use, and their limit. */
  load(): Load & { engines: Map<string, EngineLoad> }
  /** How fast a model has answered recently, by {@link nameOf}; undefined when it has not. */
  speedsOf(model: string): Speeds | undefined
  /** Makes a first token with an adapter, which takes seconds, before the first request needs it. */
  warmUp(baseModel: string, signal: AbortSignal): Promise<void>
  /**
   * Sends a request to the engine of its model and returns the reply.
   * @throws 404 for an unknown model, 402 where a budget is spent, 429 beyond a limit, 503 without an engine, 400 for
   * what the engine refuses.
   */
  send(request: GatewayRequest, context: CallContext): Promise<RawReply>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { served, loaded, baseModels, admission, usage, projectOf } = deps
  const dispatch = createDispatch(deps)
  const turns = createEngineTurns(baseModels)
  const speeds = createSpeeds()
  const open = createOpener({ admission, usage, speeds })
  const fingerprintOf = createFingerprints()

  async function warmUp(baseModel: string, signal: AbortSignal): Promise<void> {
    await baseModels.untilAvailable(signal)
    const process = await baseModels.inference(baseModel).ready(signal)
    const use = await loaded.use(process, await baseModels.initialAdapter(baseModel, loraOf({}), signal))
    try {
      const body = { model: use.name, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
      const reply = await process.post('/v1/chat/completions', JSON.stringify(body), signal)
      const fields = { model: baseModel, engineModel: use.name, choice: {} }
      const fingerprint = fingerprintOf(process)
      createReplyRewriter(fields, { usageChunk: 'keep', fingerprint }).rewrite(await readText(reply))
    } finally {
      use.release()
    }
  }

  async function send(request: GatewayRequest, context: CallContext): Promise<RawReply> {
    baseModels.assertAvailable()
    const target = await served.resolve(request.model, context.caller)
    const project = request.listener?.project ?? projectOf(context, target)
    checkRights(target, project, context.caller)
    checkAnswers(request.answers, turns.answersMaxOf(target.baseModel))
    const work = await open({ target, project, onUsage: request.listener?.onUsage }, context)
    request.listener?.onAdmitted?.(target, project)
    let isSent = false
    try {
      const wanted = { group: work.group, slots: Math.max(1, request.answers) }
      work.hold(await turns.of(target.baseModel).take(wanted, work.signal))
      isSent = true
      const to = { ...target, cacheOwner: cacheOwnerOf(project, context.caller) }
      const { process, reply, engineModel, release } = await dispatch(request, to, work.signal)
      work.hold(release)
      const model = request.model ?? target.baseModel
      const choice = request.choiceMarks?.(target) ?? {}
      const fields = { model, engineModel, choice, ...request.replyFields?.(target) }
      const usageChunk = request.stream === 'with-usage' ? 'keep' : 'drop'
      const rewriter = createReplyRewriter(fields, { usageChunk, fingerprint: fingerprintOf(process) })
      const answer = await answerOf(request, reply, { rewriter, onEnd: work.end })
      work.showLeft()
      return answer
    } catch (error) {
      const isComputed = error instanceof ReplyTooLarge
      const usage = isComputed ? usageAtEnd(error.end) : undefined
      // An engine may have computed for a client that has left.
      work.end(isComputed || (isSent && context.signal.aborted) ? { usage, events: 0 } : undefined)
      throw error
    }
  }

  return {
    load: () => ({ ...admission.load(), engines: turns.loads() }),
    speedsOf: speeds.of,
    warmUp,
    send,
  }
}

/** @throws 403 without a right to ask the model, or in the name of the project that the request counts for. */
function checkRights(target: Target, project: Place | undefined, { rights, defaultEntity }: Caller): void {
  if (target.trained !== undefined) requireRight(rights, 'infer', target.trained)
  requireRight(rights, 'infer', project ?? { entity: defaultEntity, project: rights.project })
}

/** The entity whose cached prompts a request may use; undefined for callers with rights in all entities. */
function cacheOwnerOf(project: Place | undefined, { rights, defaultEntity }: Caller): string | undefined {
  return rights.entities === 'all' ? undefined : (project?.entity ?? defaultEntity)
}

/** @throws 400 for more answers than an engine makes at once. */
function checkAnswers(answers: number, answersMax: number): void {
  if (answers <= answersMax) return
  throw invalidRequest(`${answers} answers at once are more than the ${answersMax} of one request`, 'n')
}

/** The fingerprint of each process, filled in by the first reply that has it. */
function createFingerprints(): (process: InferenceProcess) => Fingerprint {
  const fingerprints = new WeakMap<InferenceProcess, Fingerprint>()
  return (process) => {
    const fingerprint = fingerprints.get(process) ?? { text: undefined }
    fingerprints.set(process, fingerprint)
    return fingerprint
  }
}

interface AnswerOptions {
  rewriter: ReplyRewriter
  onEnd: (spent: StreamEnd | undefined) => void
}

async function answerOf(
  { stream }: GatewayRequest,
  reply: EngineReply,
  { rewriter, onEnd }: AnswerOptions,
): Promise<RawReply> {
  if (stream !== 'none') {
    const headers = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' }
    return { headers, body: relayEvents(reply.read, { rewriter, onEnd }) }
  }
  const { text, usage } = rewriter.rewrite(await readText(reply))
  onEnd(usage && { usage, events: 0 })
  return { headers: { 'content-type': 'application/json' }, body: text ?? '' }
}
