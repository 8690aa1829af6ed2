import { type ClientError, invalidRequest } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import { withoutLoneSurrogates } from '../../json/lone-surrogates.ts'
import { stringify } from '../../json/lossless-json.ts'
import {
  type Affinity,
  EngineProcessLost,
  type EngineReply,
  type InferenceProcess,
  isUnsent,
} from '../../stores/compute/port.ts'
import { type BaseModels, stillStarting } from '../../training/base-models/service.ts'
import { nameOf, type Target } from '../served-models/service.ts'
import { beginningOf } from './beginning.ts'
import type { EngineModel } from './engine-fields.ts'
import { engineError, failedOnRequest, readText } from './engine-reply.ts'
import type { AdapterUse, LoadedAdapters } from './loaded-adapters.ts'

/** A request waits this long for an engine that is starting: about four starts of the small model on two cores. */
const HOLD_MS_MAX = 120_000

/**
 * A request that no process has answered is sent again, a limited number of times: it may be what ends the processes.
 */
const TRIES_MAX = 3

/** A request to the engine. */
export interface EngineRequest {
  /** The engine's endpoint. */
  path: string
  /** The body for the chosen target. */
  body: (engine: EngineModel) => Record<string, unknown>
}

export interface DispatchDeps {
  baseModels: BaseModels
  loaded: LoadedAdapters
}

/** A process that answers a request. */
export interface Dispatched {
  process: InferenceProcess
  reply: EngineReply
  /** The engine's name of the adapter or base model. */
  engineModel: string
  /** Ends the use of the adapter; undefined for a base model. */
  release: (() => void) | undefined
}

/**
 * Finds the process that serves the target, loads the adapter there and sends the request; again where that is known to
 * be safe.
 */
export type Dispatch = (
  request: EngineRequest,
  to: DispatchTarget,
  signal: AbortSignal,
) => Promise<Dispatched>

/** What answers a request, and whose. */
export type DispatchTarget = Target & Pick<EngineModel, 'cacheOwner'>

export function createDispatch({ baseModels, loaded }: DispatchDeps): Dispatch {
  /** The process and the adapter in it that serve a target; undefined stands for the bare base model. */
  async function prepare(target: Target, affinity: () => Affinity, signal: AbortSignal) {
    const hold = new AbortController()
    const timer = setTimeout(() => hold.abort(), HOLD_MS_MAX)
    const waiting = AbortSignal.any([signal, hold.signal])
    try {
      const process = await baseModels.inference(target.baseModel).ready(waiting, affinity)
      const use = target.trained && (await load(process, target.trained.checkpoint))
      return { process, use }
    } catch (error) {
      signal.throwIfAborted()
      throw waiting.aborted ? stillStarting(target.baseModel) : error
    } finally {
      clearTimeout(timer)
    }
  }

  async function load(process: InferenceProcess, checkpoint: Parameters<LoadedAdapters['use']>[1]) {
    try {
      return await loaded.use(process, checkpoint)
    } catch (error) {
      // The adapter was loaded into that process, but the request was not sent.
      throw error instanceof EngineProcessLost
        ? new EngineProcessLost(error.message, { cause: error, request: 'unsent' })
        : error
    }
  }

  async function ask(request: EngineRequest, target: DispatchTarget, signal: AbortSignal) {
    const { cacheOwner } = target
    const engineModel = target.trained?.checkpoint.adapter_digest ?? target.baseModel
    const body = request.body({ name: engineModel, isTrained: target.trained !== undefined, cacheOwner })
    const model = target.trained && nameOf(target)
    const { process, use } = await prepare(target, () => ({ model, prompt: beginningOf(body) }), signal)
    try {
      const sent = stringify(body)
      const reply = await process.post(request.path, sent, signal)
      if (reply.status === 200) return { process, reply, engineModel, release: use?.release }
      const text = await readText(reply)
      const isFaultOfRequest = failedOnRequest(reply.status, text)
      // Wire: the engine fails on a constraint that it cannot compile.
      if (isFaultOfRequest && isConstrained(body))
        throw invalidRequest('The engine cannot work with this constraint', 'structured_outputs')
      // It also fails on half a surrogate pair, in any field.
      if (isFaultOfRequest && withoutLoneSurrogates(sent) !== sent)
        throw invalidRequest('The request has a surrogate without its other half')
      const refusal = engineError(reply.status, text)
      throw use !== undefined && isUnknownModel(refusal) ? new AdapterGone(process, use, refusal) : refusal
    } catch (error) {
      use?.release()
      throw error
    }
  }

  return async function dispatch(request: EngineRequest, target: DispatchTarget, signal: AbortSignal) {
    for (let tried = 1; ; tried++) {
      try {
        return await ask(request, target, signal)
      } catch (error) {
        const isGone = error instanceof AdapterGone
        if (tried === TRIES_MAX || !(isGone || isUnsent(error))) throw isGone ? error.refusal : error
        if (isGone) loaded.forget(error.process, error.use)
      }
    }
  }
}

function isConstrained(body: Record<string, unknown>): boolean {
  const { structured_outputs, response_format } = body
  return structured_outputs !== undefined || (isRecord(response_format) && response_format['type'] !== 'text')
}

/** Wire: a path that the engine does not have is a 404 as well, but without a parameter at fault. */
function isUnknownModel(error: ClientError): boolean {
  return error.status === 404 && error.param === 'model'
}

/** The engine does not know an adapter that was loaded: it was unloaded by another client. */
class AdapterGone extends Error {
  readonly process: InferenceProcess
  readonly use: AdapterUse
  readonly refusal: ClientError

  constructor(process: InferenceProcess, use: AdapterUse, refusal: ClientError) {
    super(refusal.message)
    this.process = process
    this.use = use
    this.refusal = refusal
  }
}
