import { ClientError } from '../../errors.ts'
import type { BaseModelFinding } from './find-base-model.ts'

/**
 * The engine: trainer workers and inference servers, one of each per base model, started when first needed, kept alive
 * while in use, and stopped when others need their memory. Adapters: local.ts (child processes of this server, and an
 * inference server elsewhere).
 */

/**
 * `idle`: not running, and started by the first request. `asleep`: running without the memory that it shares, and woken
 * by the first request. `failed`: several starts in a row went wrong; after a pause those of the default base model are
 * tried again, and others become idle.
 */
export type EngineProcessState =
  | 'idle'
  | 'starting'
  | 'ready'
  | 'asleep'
  | 'restarting'
  | 'failed'
  | 'stopping'
  | 'stopped'

/** The state of one engine process, for people and for health checks. */
export interface EngineProcessStatus {
  name: string
  state: EngineProcessState
  /** ISO 8601. */
  since: string
  last_error: string | null
  /** What a start waits for, in the words of what schedules it; null where it waits for nothing. */
  waiting_for: string | null
  /** The newest lines of its output. */
  last_lines: string[]
  /** Requests and jobs that use it or wait for it. */
  users: number
  /** Estimated memory that it needs while it runs. */
  memory_bytes: number
}

/** Memory that all engine processes share: of this machine or, where they use GPUs, of one GPU. Estimated. */
export interface EngineMemory {
  budget_bytes: number
  used_bytes: number
}

/** The process behind a request is gone: it ended, hung and was ended, or cannot be started. */
export class EngineProcessLost extends ClientError {
  /** `unsent`: the process never saw the request, so it may be sent again to the next one. */
  readonly request: 'sent' | 'unsent'

  constructor(
    message: string,
    options: { cause?: unknown; request?: 'unsent'; retryAfterSeconds?: number } = {},
  ) {
    super(503, 'ServiceUnavailableError', message, { retryAfterSeconds: 5, ...options })
    this.request = options.request ?? 'sent'
  }
}

/** Whether an error says that the process never saw the request. */
export function isUnsent(error: unknown): boolean {
  return error instanceof EngineProcessLost && error.request === 'unsent'
}

/** What happens to work that does not fit in memory while other work runs: it is refused at once, or waits. */
export type WhenFull = 'refuse' | 'wait'

/** How long a request waits for a process. */
export interface Wait {
  /** Otherwise it is refused. */
  whenFull?: WhenFull
  /** How long it waits on while one start after another fails, in milliseconds; otherwise it fails with the third. */
  failingMs?: number
}

/** A trainer worker: handles one request at a time. */
export interface Trainer {
  status(): EngineProcessStatus
  /** Resolves once the worker can accept a request. @throws EngineProcessLost when it cannot be started. */
  ready(signal: AbortSignal): Promise<void>
  /**
   * Waits until the worker is ready, sends `request`, whose files have the names of the workspace, and yields every
   * message that follows, until the caller stops iterating. A worker that stays silent meanwhile counts as hanging and
   * is replaced.
   * @throws EngineProcessLost with a reason for people; at once where the base model cannot be used at all.
   */
  run(request: object, wait: Wait, signal: AbortSignal): AsyncIterable<unknown>
  /** Sends a message to the worker that is busy with a request; dropped when no request runs. */
  send(message: object): void
}

/** A reply whose body has not been read. */
export interface EngineReply {
  status: number
  /**
   * Passes on the body chunk by chunk, and pauses where `onChunk` asks for it. A callback, because for every token of
   * every stream an iterator's steps would cost as much as all other work.
   * @throws EngineProcessLost when it breaks off; the request's signal's reason; what `onChunk` threw, which ends the
   * reply.
   */
  read(onChunk: (chunk: Uint8Array) => Promise<void> | void): Promise<void>
}

/** One run of an inference server: what was loaded into it is gone when it ends. */
export interface InferenceProcess {
  /** The path of a file of the workspace as the process sees it. */
  pathOf(name: string): string
  /**
   * Posts JSON text; aborting the signal closes the connection, which ends the generation. The process counts as in use
   * until the reply's body has been read or closed.
   * @throws EngineProcessLost when the process is gone, also while the body is read; it may have been stopped since
   * `ready`.
   */
  post(path: string, body: string, signal: AbortSignal): Promise<EngineReply>
}

/** What decides which of several replicas answers a request. */
export interface Affinity {
  /** The trained model whose adapter has to be loaded; undefined for the base model, which every replica has. */
  model: string | undefined
  /** Equal for requests that should be answered by the same replica, as long as it is there. */
  prompt: string
}

export interface Inference {
  status(): EngineProcessStatus
  /** Requests that it computes at a time, in all its replicas together. */
  readonly requestsMax: number
  /** The process that runs now; undefined when none does. Starts nothing. */
  running(): InferenceProcess | undefined
  /**
   * Starts the process if none runs; resolves once it answers.
   * @param affinity asked for where there are several replicas
   * @throws EngineProcessLost when it cannot; the signal's reason.
   */
  ready(signal: AbortSignal, affinity?: () => Affinity): Promise<InferenceProcess>
}

export interface Unavailable {
  /** With what to do about it. */
  reason: string
  /** Seconds after which it may have ended by itself; undefined where an operator has to act first. */
  retryAfterSeconds: number | undefined
}

export interface Compute extends AsyncDisposable {
  /** Why nothing can be computed now; undefined when it can. */
  readonly unavailable: Unavailable | undefined
  /** Resolves once the engine is installed. @throws the signal's reason. */
  untilAvailable(signal: AbortSignal): Promise<void>
  /** Whether the inference servers honour the priority of a request. */
  readonly priorityScheduling: boolean
  /** Whether requests may set options for processing images, audio and video. */
  readonly mmProcessorKwargs: boolean
  /** The largest adapter rank that the inference servers support. */
  readonly loraRankMax: number
  /** Checks whether a base model of a name exists, used before or not; nothing is started. */
  findBaseModel(baseModel: string, signal: AbortSignal): Promise<BaseModelFinding>
  /**
   * The worker of a base model, running or not, to be used at once.
   * @throws EngineProcessLost when too many are in use.
   */
  trainer(baseModel: string): Trainer
  /**
   * The server of a base model, running or not, to be used at once.
   * @throws EngineProcessLost when too many are in use.
   */
  inference(baseModel: string): Inference
  /** Every engine process that was requested and not dropped. */
  statuses(): (EngineProcessStatus & { base_model: string })[]
  memory(): EngineMemory
}
