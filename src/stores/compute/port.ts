import { ClientError } from '../../errors.ts'
import type { BaseModelFinding } from './find-base-model.ts'

/**
 * What computes: trainer workers and inference servers, one of each per base model, started when first needed, kept
 * alive while they are, and stopped when others need their memory. Adapters: local.ts (child processes of this server,
 * and an inference server elsewhere).
 */

/**
 * `idle`: not running, and started by whoever needs it. `failed`: several starts in a row went wrong; after a pause those
 * of the default base model go on, and others become idle.
 */
export type PartState = 'idle' | 'starting' | 'ready' | 'restarting' | 'failed' | 'stopping' | 'stopped'

/** How one part of the engine is, for people and for health checks. */
export interface PartStatus {
  name: string
  state: PartState
  /** ISO 8601. */
  since: string
  last_error: string | null
  /** The newest lines of its output. */
  last_lines: string[]
  /** Requests and jobs that use it or wait for it. */
  users: number
  /** What it needs while it runs, by estimate. */
  memory_bytes: number
}

/** Memory that all parts share: of this machine or, where they compute on GPUs, of one GPU. By estimate. */
export interface EngineMemory {
  budget_bytes: number
  used_bytes: number
}

/** The process behind a request is gone: it ended, hung and was ended, or cannot be started. */
export class PartLost extends ClientError {
  /** `unsent`: the process never saw the request, so whoever has time may send it to the next one. */
  readonly request: 'sent' | 'unsent'

  constructor(
    message: string,
    options: { cause?: unknown; request?: 'unsent'; retryAfterSeconds?: number } = {},
  ) {
    super(503, 'ServiceUnavailableError', message, { retryAfterSeconds: 5, ...options })
    this.request = options.request ?? 'sent'
  }
}

/** What becomes of work that has no room in memory while others work: an answer at once, or a wait for its turn. */
export type WhenFull = 'refuse' | 'wait'

/** A trainer worker: takes one request at a time. */
export interface Trainer {
  status(): PartStatus
  /** Resolves once the worker could take a request. @throws PartLost when it cannot be started. */
  ready(signal: AbortSignal): Promise<void>
  /**
   * Waits until the worker is ready, sends `request` and yields every message that follows, until the caller stops
   * iterating. A worker that stays silent meanwhile counts as hanging and is replaced.
   * @throws PartLost with a reason a person understands.
   */
  run(request: object, options: { whenFull: WhenFull }, signal: AbortSignal): AsyncIterable<unknown>
  /** Sends a message to the worker that is busy with a request; dropped when there is none. */
  send(message: object): void
}

/** A reply whose body has not been read. */
export interface EngineReply {
  status: number
  /**
   * Hands over the body piece by piece, and waits where `onChunk` says so. A callback, because for every token of every
   * stream an iterator's steps would cost as much as the rest of the way.
   * @throws PartLost when it breaks off; the request's signal's reason; what `onChunk` threw, which ends the reply.
   */
  read(onChunk: (chunk: Uint8Array) => Promise<void> | void): Promise<void>
}

/** One life of an inference server: what was loaded into it is gone when it ends. */
export interface InferenceProcess {
  /**
   * Posts JSON text; aborting the signal closes the connection, which ends the generation. The process counts as in use
   * until the reply's body has been read or closed.
   * @throws PartLost when the process is gone, also while the body is read; it may have been stopped since `ready`.
   */
  post(path: string, body: string, signal: AbortSignal): Promise<EngineReply>
}

export interface Inference {
  status(): PartStatus
  /** Requests that it computes at a time, in all its replicas together. */
  readonly requestsMax: number
  /** The process that runs at this moment; undefined when none does. Starts nothing. */
  running(): InferenceProcess | undefined
  /** Starts the process if none runs; resolves once it answers. @throws PartLost when it cannot; the signal's reason. */
  ready(signal: AbortSignal): Promise<InferenceProcess>
}

export interface Compute extends AsyncDisposable {
  /** Why nothing can be computed here now, and what to do about it; undefined when it can. */
  readonly unavailable: string | undefined
  /** Resolves once something can be computed here. @throws the signal's reason. */
  untilAvailable(signal: AbortSignal): Promise<void>
  /** Whether the inference servers heed the priority of a request. */
  readonly priorityScheduling: boolean
  /** Whether they take what requests say of how images, audio and video are processed. */
  readonly mmProcessorKwargs: boolean
  /** The largest rank of an adapter that the inference servers take. */
  readonly loraRankMax: number
  /** Looks whether there is a base model of a name, which need not have been used; nothing is started. */
  findBaseModel(baseModel: string, signal: AbortSignal): Promise<BaseModelFinding>
  /** The worker of a base model, running or not, to be used at once. @throws PartLost when too many are in use. */
  trainer(baseModel: string): Trainer
  /** The server of a base model, running or not, to be used at once. @throws PartLost when too many are in use. */
  inference(baseModel: string): Inference
  /** Every part that was asked for and is not forgotten. */
  statuses(): (PartStatus & { base_model: string })[]
  memory(): EngineMemory
}
