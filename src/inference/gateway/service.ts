import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { stringify } from '../../lossless-json.ts'
import { type EngineReply, type InferenceProcess, PartLost } from '../../stores/compute/port.ts'
import { type BaseModels, stillStarting } from '../../training/base-models/service.ts'
import { loraOf } from '../../training/models/wire.ts'
import type { AdapterUse, LoadedAdapters } from '../models/loaded-adapters.ts'
import type { ServedModels, Target } from '../models/served-models.ts'
import type { UsageRecording } from '../usage/recording.ts'
import type { Admission } from './admission.ts'
import type { EngineModel } from './engine-fields.ts'
import { engineError, readText } from './engine-reply.ts'
import { relayEvents, type StreamEnd } from './event-stream.ts'
import { createMarker, type Fingerprint, type Marker, type TokenUsage } from './marks.ts'
import type { ProjectOf } from './project-header.ts'
import { createTurns, type Turns } from './turns.ts'

/** A request waits this long for an engine that is starting: about four starts of the small model on two cores. */
const HOLD_MS_MAX = 120_000

/** Requests that an engine has at a time, in batches: one is computed, and the next is there when it ends. */
const BATCHES_MAX = 2

export interface GatewayDeps {
  served: ServedModels
  loaded: LoadedAdapters
  baseModels: BaseModels
  admission: Admission
  usage: UsageRecording
  projectOf: ProjectOf
}

/** One request to an engine, for any of its endpoints. */
export interface GatewayRequest {
  /** The engine's endpoint. */
  path: string
  /** As the client named it; the default base model where it did not. */
  model: string | null | undefined
  /** What becomes of the usage at the end of a stream; `none` for a reply in one piece. */
  stream: 'none' | 'with-usage' | 'without-usage'
  /** The body for whoever answers. */
  body: (engine: EngineModel) => Record<string, unknown>
  /** What each choice of the reply says beside the engine's words. */
  choiceMarks?: (target: Target) => Record<string, unknown>
  /** Hears what it cost, when the engine has counted. */
  onUsage?: (usage: TokenUsage) => void
}

export type Gateway = ReturnType<typeof createGateway>

/** The door in front of the inference engines: who may come in, which weights answer, and what it cost. */
export function createGateway(deps: GatewayDeps) {
  const { served, loaded, baseModels, admission, usage, projectOf } = deps
  const engage = createEngaging(deps)
  const turnsOfEngines = new Map<string, Turns>()
  const fingerprints = new WeakMap<InferenceProcess, Fingerprint>()

  function fingerprintOf(process: InferenceProcess): Fingerprint {
    const fingerprint = fingerprints.get(process) ?? { text: undefined }
    fingerprints.set(process, fingerprint)
    return fingerprint
  }

  function turnsOf(baseModel: string): Turns {
    const turns = turnsOfEngines.get(baseModel) ?? createTurns(BATCHES_MAX * baseModels.maxNumSeqs)
    turnsOfEngines.set(baseModel, turns)
    return turns
  }

  /** What one request holds until it has ended, in whatever way. */
  function open({ onUsage }: GatewayRequest, target: Target, context: CallContext) {
    const project = projectOf(context, target)
    const payer = { key: context.caller.keyId, project: project && `${project.entity}/${project.project}` }
    const place = admission.enter(payer)
    const client = new AbortController()
    const held: (() => void)[] = []
    let isOpen = true
    return {
      /** Whom it counts for, among those who wait for the engine. */
      group: payer.project ?? payer.key,
      signal: AbortSignal.any([context.signal, client.signal]),
      hold: (release: () => void) => void held.push(release),
      /** Undefined for a request that has cost nothing. */
      end(spent: StreamEnd | undefined): void {
        if (!isOpen) return
        isOpen = false
        for (const release of held) release()
        place.leave(tokensOf(spent))
        if (spent !== undefined) usage.record({ keyId: payer.key, project, target, ...spent })
        if (spent?.usage === undefined) client.abort()
        else onUsage?.(spent.usage)
      },
    }
  }

  return {
    /** Makes a first token with an adapter, which takes seconds, before anybody waits for it. */
    async warmUp(baseModel: string): Promise<void> {
      if (!baseModels.isAvailable()) return
      const { signal } = new AbortController()
      const process = await baseModels.inference(baseModel).ready(signal)
      const use = await loaded.use(process, await baseModels.initialAdapter(baseModel, loraOf({}), signal))
      const body = { model: use.name, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
      await readText(await process.post('/v1/chat/completions', JSON.stringify(body), signal))
      use.release()
    },

    /**
     * Sends a request to the engine of its model and passes on what it answers.
     * @throws 404 for an unknown model, 429 beyond a limit, 503 without an engine, 400 for what the engine refuses.
     */
    async send(request: GatewayRequest, context: CallContext): Promise<RawReply> {
      baseModels.assertAvailable()
      const target = await served.resolve(request.model, context.caller)
      const work = open(request, target, context)
      try {
        work.hold(await turnsOf(target.baseModel).take(work.group, work.signal))
        const { process, reply, engineModel } = await engage(request, target, work.signal, work.hold)
        const model = request.model ?? target.baseModel
        const marks = { model, engineModel, choice: request.choiceMarks?.(target) ?? {} }
        const usageChunk = request.stream === 'with-usage' ? 'keep' : 'drop'
        const marker = createMarker(marks, { usageChunk, fingerprint: fingerprintOf(process) })
        return await answerOf(request, reply, { marker, onEnd: work.end })
      } catch (error) {
        work.end(context.signal.aborted ? { usage: undefined, events: 0 } : undefined)
        throw error
      }
    },
  }
}

/** An answer that was cut has cost about as many tokens as were passed on. */
function tokensOf(spent: StreamEnd | undefined): number {
  if (spent?.usage === undefined) return spent?.events ?? 0
  return spent.usage.prompt_tokens + spent.usage.completion_tokens
}

interface AnswerOptions {
  marker: Marker
  onEnd: (spent: StreamEnd | undefined) => void
}

async function answerOf(
  { stream }: GatewayRequest,
  reply: EngineReply,
  { marker, onEnd }: AnswerOptions,
): Promise<RawReply> {
  if (stream !== 'none') {
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // Proxies of the nginx family collect what they pass on unless told not to.
      'x-accel-buffering': 'no',
    }
    return { headers, body: relayEvents(reply.read, { marker, onEnd }) }
  }
  const { text, usage } = marker.mark(await readText(reply))
  onEnd(usage && { usage, events: 0 })
  return { headers: { 'content-type': 'application/json' }, body: text ?? '' }
}

/** Finds the process that answers, has it load the adapter, and asks it; again where that is known to be safe. */
function createEngaging({ baseModels, loaded }: Pick<GatewayDeps, 'baseModels' | 'loaded'>) {
  /** The process and the adapter in it that answer for a target; undefined stands for the bare base model. */
  async function prepare(target: Target, signal: AbortSignal) {
    const hold = new AbortController()
    const timer = setTimeout(() => hold.abort(), HOLD_MS_MAX)
    const waiting = AbortSignal.any([signal, hold.signal])
    try {
      const process = await baseModels.inference(target.baseModel).ready(waiting)
      const use = target.trained && (await loaded.use(process, target.trained.checkpoint))
      return { process, use }
    } catch (error) {
      signal.throwIfAborted()
      throw waiting.aborted ? stillStarting(target.baseModel) : error
    } finally {
      clearTimeout(timer)
    }
  }

  async function ask(request: GatewayRequest, target: Target, signal: AbortSignal) {
    const { process, use } = await prepare(target, signal)
    try {
      const engineModel = use?.name ?? target.baseModel
      const body = stringify(request.body({ name: engineModel, isTrained: target.trained !== undefined }))
      const reply = await process.post(request.path, body, signal)
      if (reply.status === 200) return { process, reply, engineModel, use }
      const text = await readText(reply)
      if (reply.status === 404 && use !== undefined)
        throw new AdapterGone(process, use, engineError(404, text))
      throw engineError(reply.status, text)
    } catch (error) {
      use?.release()
      throw error
    }
  }

  return async function engage(
    request: GatewayRequest,
    target: Target,
    signal: AbortSignal,
    hold: (release: () => void) => void,
  ) {
    for (let isRepeat = false; ; ) {
      try {
        const { use, ...answer } = await ask(request, target, signal)
        if (use) hold(use.release)
        return answer
      } catch (error) {
        if (error instanceof AdapterGone) {
          if (isRepeat) throw error.refusal
          loaded.forget(error.process, error.use)
          isRepeat = true
        } else if (!(error instanceof PartLost) || error.request !== 'unsent') throw error
        // A request that no process has seen goes to the next one, which is waited for.
      }
    }
  }
}

/** The engine does not know an adapter that it has loaded: another hand has unloaded it. */
class AdapterGone extends Error {
  readonly process: InferenceProcess
  readonly use: AdapterUse
  readonly refusal: Error

  constructor(process: InferenceProcess, use: AdapterUse, refusal: Error) {
    super(refusal.message)
    this.process = process
    this.use = use
    this.refusal = refusal
  }
}
